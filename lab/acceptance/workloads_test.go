package acceptance

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/lab/internal/report"
)

const workloads = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAMESPACE}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      initContainers: [{name: first, image: example.com/first}]
      containers: [{name: web, image: example.com/web, readinessProbe: {httpGet: {path: /, port: 80}}}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: NAMESPACE}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: example.com/db, volumeMounts: [{name: data, mountPath: /data}]}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: example.com/agent}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: NAMESPACE}
spec:
  completions: 2
  template:
    spec: {restartPolicy: Never, containers: [{name: once, image: example.com/once}]}
`

func TestWorkloadsBecomeReadyOnSimulatedNodes(t *testing.T) {
	cluster := shared.Clusters["nodes"]
	client := clientset(t, cluster.Kubeconfig)
	namespace := newNamespace(t, client)
	apply(t, cluster.Kubeconfig, strings.ReplaceAll(workloads, "NAMESPACE", namespace))
	apps := client.AppsV1().RESTClient()
	await(t, apps, "deployments", namespace, "web", &appsv1.Deployment{}, func(d **appsv1.Deployment) bool {
		return d != nil && (*d).Status.AvailableReplicas == 3
	})
	await(t, apps, "statefulsets", namespace, "db", &appsv1.StatefulSet{}, func(s **appsv1.StatefulSet) bool {
		return s != nil && (*s).Status.AvailableReplicas == 2
	})
	await(t, apps, "daemonsets", namespace, "agent", &appsv1.DaemonSet{}, func(d **appsv1.DaemonSet) bool {
		return d != nil && (*d).Status.NumberAvailable == 2
	})
	await(t, client.BatchV1().RESTClient(), "jobs", namespace, "once", &batchv1.Job{}, func(j **batchv1.Job) bool {
		return j != nil && (*j).Status.Succeeded == 2 && (*j).Status.CompletionTime != nil
	})
	pods, err := client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if !strings.HasPrefix(pod.Spec.NodeName, "node-") {
			t.Errorf("pod %s is on node %q", pod.Name, pod.Spec.NodeName)
		}
	}
}

var (
	gitRepositories = schema.GroupVersionResource{Group: "source.toolkit.fluxcd.io", Version: "v1", Resource: "gitrepositories"}
	kustomizations  = schema.GroupVersionResource{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Resource: "kustomizations"}
)

const kustomization = `
apiVersion: v1
kind: Secret
metadata: {name: login, namespace: NAMESPACE}
stringData: {username: USERNAME, password: PASSWORD}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: demo, namespace: NAMESPACE}
spec:
  interval: 10m
  url: URL
  ref: {branch: main}
  secretRef: {name: login}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: demo, namespace: NAMESPACE}
spec:
  interval: 10m
  path: ./
  prune: true
  targetNamespace: NAMESPACE
  sourceRef: {kind: GitRepository, name: demo}
`

// reconcileFromGit pushes a ConfigMap and lets Flux bring it to the cluster.
func reconcileFromGit(t *testing.T, kubeconfig string) {
	t.Helper()
	repository := newRepository(t, shared)
	work := commit(t, map[string][]byte{"map.yaml": []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-git}\ndata: {key: value}\n")})
	mustGit(t, work, nil, "push", "--quiet", withPassword(t, repository.HTTP, shared.Git.Username, shared.Git.Password), "main")
	client := clientset(t, kubeconfig)
	namespace := newNamespace(t, client)
	apply(t, kubeconfig, strings.NewReplacer("NAMESPACE", namespace, "URL", repository.HTTP,
		"USERNAME", shared.Git.Username, "PASSWORD", shared.Git.Password).Replace(kustomization))
	anyKind := dynamicClient(t, kubeconfig)
	awaitCondition(t, anyKind, gitRepositories, namespace, "demo", "Ready")
	awaitCondition(t, anyKind, kustomizations, namespace, "demo", "Ready")
	if found, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "from-git", metav1.GetOptions{}); err != nil || found.Data["key"] != "value" {
		t.Errorf("the ConfigMap from Git: %v, %v", found.Data, err)
	}
}

func TestFluxReconcilesFromGit(t *testing.T) {
	reconcileFromGit(t, shared.Clusters["flux"].Kubeconfig)
}

// fluxAsUsersInstallIt is what installs of Flux have in common, with arguments
// that cannot hold on one machine (paths, ports) and some that must be kept.
const fluxAsUsersInstallIt = `
apiVersion: v1
kind: Namespace
metadata: {name: gitops}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: flux, namespace: gitops}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: gitops-flux}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: flux, namespace: gitops}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: source-controller, namespace: gitops}
spec:
  replicas: 1
  strategy: {type: Recreate}
  selector: {matchLabels: {app: source-controller}}
  template:
    metadata: {labels: {app: source-controller}}
    spec:
      serviceAccountName: flux
      containers:
      - name: manager
        image: mirror.example.com/fluxcd/source-controller:v1.9.5@sha256:4b5a
        env:
        - {name: RUNTIME_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        args:
        - --events-addr=http://notification-controller.$(RUNTIME_NAMESPACE).svc.cluster.local./
        - --watch-all-namespaces=true
        - --log-encoding=json
        - --enable-leader-election
        - --concurrent=7
        - --storage-path=/data
        - --storage-adv-addr=source-controller.$(RUNTIME_NAMESPACE).svc.cluster.local.
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller, namespace: gitops}
spec:
  replicas: 1
  strategy: {type: Recreate}
  selector: {matchLabels: {app: kustomize-controller}}
  template:
    metadata: {labels: {app: kustomize-controller}}
    spec:
      serviceAccountName: flux
      containers:
      - name: manager
        image: ghcr.io/fluxcd/kustomize-controller:v1.9.5
        env:
        - {name: RUNTIME_NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
        args: [--watch-all-namespaces, --health-addr, ":9440"]
`

func TestFluxInstalledByManifestsRuns(t *testing.T) {
	for _, row := range []struct{ cluster, reason string }{
		{"plain", "without nodes, the lab binds the pods itself"},
		{"nodes", "with a scheduler and KWOK, the pods are really run all the same"},
	} {
		t.Run(row.cluster, func(t *testing.T) {
			kubeconfig := shared.Clusters[row.cluster].Kubeconfig
			copyFluxKinds(t, kubeconfig)
			apply(t, kubeconfig, fluxAsUsersInstallIt)
			awaitReplicas(t, kubeconfig, "source-controller", 1)
			awaitReplicas(t, kubeconfig, "kustomize-controller", 1)
			process, found := shared.component(t, row.cluster+"/source-controller")
			if !found {
				t.Fatalf("%s: the controller does not run", row.reason)
			}
			if line := commandLine(t, process.PID); !strings.Contains(line, "--concurrent=7") || strings.Contains(line, "svc.cluster.local") {
				t.Errorf("the controller runs as %q", line)
			}
			reconcileFromGit(t, kubeconfig)
			changeAndRemoveFlux(t, row.cluster, kubeconfig, process)
		})
	}
}

// TestFluxWorksForAnotherCluster: the controllers run on one cluster and work for another
// one, whose kubeconfig they mount, and have no access to the one on which they run.
func TestFluxWorksForAnotherCluster(t *testing.T) {
	host, other := shared.Clusters["plain"].Kubeconfig, shared.Clusters["nodes"].Kubeconfig
	copyFluxKinds(t, other)
	content, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, host, strings.NewReplacer(
		"gitops", "hosted",
		"      serviceAccountName: flux\n", "      automountServiceAccountToken: false\n      volumes: [{name: access, secret: {secretName: access}}]\n",
		"      - name: manager\n", "      - name: manager\n        volumeMounts: [{name: access, mountPath: /etc/access}]\n",
		"        env:\n", "        env:\n        - {name: KUBECONFIG, value: /etc/access/kubeconfig}\n",
		"kind: ServiceAccount\nmetadata: {name: flux, namespace: gitops}\n",
		fmt.Sprintf("kind: Secret\nmetadata: {name: access, namespace: hosted}\nstringData: {kubeconfig: %q}\n", content),
	).Replace(fluxAsUsersInstallIt))
	reconcileFromGit(t, other)
	deployments := clientset(t, host).AppsV1().Deployments("hosted")
	if err := deployments.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitNoComponent(t, "plain/source-controller")
	awaitNoComponent(t, "plain/kustomize-controller")
}

// changeAndRemoveFlux changes, scales and removes a Deployment.
func changeAndRemoveFlux(t *testing.T, cluster, kubeconfig string, first report.Component) {
	t.Helper()
	deployments := clientset(t, kubeconfig).AppsV1().Deployments("gitops")
	patch := func(content string) {
		t.Helper()
		if _, err := deployments.Patch(t.Context(), "source-controller", types.JSONPatchType, []byte(content), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	patch(`[{"op": "replace", "path": "/spec/template/spec/containers/0/args/4", "value": "--concurrent=3"}]`)
	eventually(t, func() error {
		process, found := shared.component(t, cluster+"/source-controller")
		if !found || process.PID == first.PID || process.PID == 0 || !strings.Contains(commandLine(t, process.PID), "--concurrent=3") {
			return fmt.Errorf("no process with the new argument: %+v", process)
		}
		return nil
	})
	awaitReplicas(t, kubeconfig, "source-controller", 1)
	patch(`[{"op": "replace", "path": "/spec/replicas", "value": 0}]`)
	awaitNoComponent(t, cluster+"/source-controller")
	if err := deployments.Delete(t.Context(), "kustomize-controller", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	awaitNoComponent(t, cluster+"/kustomize-controller")
}

// copyFluxKinds gives a cluster the kinds of Flux that another one has.
func copyFluxKinds(t *testing.T, kubeconfig string) {
	t.Helper()
	kinds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	from, to := dynamicClient(t, shared.Clusters["flux"].Kubeconfig).Resource(kinds), dynamicClient(t, kubeconfig)
	list, err := from.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range list.Items {
		kind.SetResourceVersion("")
		kind.SetManagedFields(nil)
		if _, err := to.Resource(kinds).Create(t.Context(), &kind, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
		awaitCondition(t, to, kinds, "", kind.GetName(), "Established")
	}
}

func awaitReplicas(t *testing.T, kubeconfig, deployment string, replicas int32) {
	t.Helper()
	await(t, clientset(t, kubeconfig).AppsV1().RESTClient(), "deployments", "gitops", deployment, &appsv1.Deployment{}, func(d **appsv1.Deployment) bool {
		return d != nil && (*d).Status.ObservedGeneration == (*d).Generation && (*d).Status.AvailableReplicas == replicas
	})
}

func awaitNoComponent(t *testing.T, prefix string) {
	t.Helper()
	eventually(t, func() error {
		if component, found := shared.component(t, prefix); found {
			return fmt.Errorf("%s is still there", component.Name)
		}
		return nil
	})
}

func commandLine(t *testing.T, pid int) string {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(content), "\x00", " ")
}

func TestCrashedControllerIsStartedAgain(t *testing.T) {
	process, found := shared.component(t, "flux/kustomize-controller")
	if !found {
		t.Fatal("the controller does not run")
	}
	if err := syscall.Kill(process.PID, syscall.SIGKILL); err != nil { // behind the lab's back
		t.Fatal(err)
	}
	client := clientset(t, shared.Clusters["flux"].Kubeconfig)
	pod := strings.TrimPrefix(process.Name, "flux/")
	await(t, client.CoreV1().RESTClient(), "pods", "flux-system", pod, &corev1.Pod{}, func(p **corev1.Pod) bool {
		if p == nil || len((*p).Status.ContainerStatuses) == 0 {
			return false
		}
		status := (*p).Status.ContainerStatuses[0]
		return status.RestartCount > 0 && status.Ready
	})
}

func TestKilledControllerStaysAwayUntilRestart(t *testing.T) {
	client := clientset(t, shared.Clusters["flux"].Kubeconfig)
	available := func(want bool) {
		t.Helper()
		await(t, client.AppsV1().RESTClient(), "deployments", "flux-system", "source-controller", &appsv1.Deployment{}, func(d **appsv1.Deployment) bool {
			return d != nil && (*d).Status.AvailableReplicas > 0 == want
		})
	}
	shared.do(t, "kill", "flux/source-controller")
	available(false)
	shared.do(t, "restart", "flux/source-controller")
	available(true)
}
