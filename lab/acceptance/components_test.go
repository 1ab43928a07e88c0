package acceptance

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/lab/internal/report"
)

func TestKillAndRestartKeepDataAndPorts(t *testing.T) {
	t.Parallel()
	l := upForTest(t)
	cluster := l.Clusters["cluster"]
	client := clientset(t, cluster.Kubeconfig)
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, component := range []string{"cluster/etcd", "cluster/apiserver", "cluster/controller-manager"} {
		before, _ := l.component(t, component)
		var killed, restarted report.Component
		l.doJSON(t, &killed, "kill", component)
		if killed.State != "stopped" || syscall.Kill(before.PID, 0) != syscall.ESRCH {
			t.Errorf("%s after kill: %+v", component, killed)
		}
		if component == "cluster/apiserver" {
			if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("get from a killed API server: %v, want connection refused", err)
			}
		}
		l.doJSON(t, &restarted, "restart", component)
		if restarted.State != "running" || restarted.PID == before.PID || restarted.Restarts <= before.Restarts {
			t.Errorf("%s after restart: %+v", component, restarted)
		}
	}
	eventually(t, func() error {
		_, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
		return err
	})
	// The control plane works together again: a controller reacts.
	namespace := newNamespace(t, client)
	await(t, client.CoreV1().RESTClient(), "serviceaccounts", namespace, "default", &corev1.ServiceAccount{},
		func(account **corev1.ServiceAccount) bool { return account != nil })
	hangAndGoOn(t, l)
}

// hangAndGoOn stops an API server without ending it.
func hangAndGoOn(t *testing.T, l *lab) {
	t.Helper()
	config := restConfig(t, l.Clusters["cluster"].Kubeconfig)
	client := clientsetFor(t, config)
	l.do(t, "kill", "cluster/apiserver", "--signal", "STOP")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := client.CoreV1().ConfigMaps("default").Get(ctx, "kept", metav1.GetOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("get from a hanging API server: %v, want the deadline", err)
	}
	l.do(t, "kill", "cluster/apiserver", "--signal", "CONT")
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Errorf("get from an API server that was resumed: %v", err)
	}
}

// TestLogsAreThoseOfTheComponent looks for words that each has written before it was ready.
func TestLogsAreThoseOfTheComponent(t *testing.T) {
	for component, word := range map[string]string{
		"supervisor":              "the lab is up",
		"plain/apiserver":         "Adding GroupVersion",
		"nodes/scheduler":         "Starting Kubernetes Scheduler",
		"flux/source-controller":  "Helm index files",
		"nodes/kwok":              "node-0",
		"registry":                "listening on",
		"flux/controller-manager": "controllermanager",
	} {
		if log := shared.do(t, "logs", component); !strings.Contains(strings.ToLower(log), strings.ToLower(word)) {
			t.Errorf("the log of %s does not mention %q", component, word)
		}
	}
}

func TestStatusShowsMemoryAndDisk(t *testing.T) {
	var status report.Lab
	shared.doJSON(t, &status, "status", "--json")
	if status.MemoryBytes < 500<<20 || status.DiskBytes < 1<<20 {
		t.Errorf("the lab has %d bytes of memory and %d of disk, which is too little for three clusters", status.MemoryBytes, status.DiskBytes)
	}
	sum := int64(0)
	for _, component := range status.Components {
		if component.State != "running" || component.MemoryBytes < 1<<20 {
			t.Errorf("component %+v", component)
		}
		sum += component.MemoryBytes
	}
	if sum > status.MemoryBytes {
		t.Errorf("the components have %d bytes of memory, the whole lab only %d", sum, status.MemoryBytes)
	}
	for name, cluster := range status.Clusters {
		if cluster.MemoryBytes < 100<<20 || cluster.DiskBytes < 1<<20 || cluster.ReadySeconds <= 0 {
			t.Errorf("cluster %s: %+v", name, cluster)
		}
	}
	text := shared.do(t, "status")
	for _, word := range []string{"memory", "disk", "MB", "plain/apiserver", "running"} {
		if !strings.Contains(text, word) {
			t.Errorf("status does not mention %q:\n%s", word, text)
		}
	}
}

func TestAuditCountsRequestsByUser(t *testing.T) {
	var alice, bob report.User
	shared.doJSON(t, &alice, "user", "alice", "--cluster", "plain", "--cluster-role", "edit")
	shared.doJSON(t, &bob, "user", "bob", "--cluster", "plain", "--cluster-role", "edit")
	namespace := newNamespace(t, clientset(t, shared.Clusters["plain"].Kubeconfig))
	maps := clientset(t, alice.Kubeconfig).CoreV1().ConfigMaps(namespace)
	if _, err := maps.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}

	mark := strings.TrimSpace(shared.do(t, "audit", "plain", "--mark"))
	for _, name := range []string{"a", "b", "c"} {
		if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := maps.Get(t.Context(), "missing", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	watch, err := maps.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	watch.Stop()
	if _, err := clientset(t, bob.Kubeconfig).CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}

	type count struct {
		Verb     string `json:"verb"`
		Resource string `json:"resource"`
		Requests int    `json:"requests"`
	}
	want := map[count]bool{{"create", "configmaps", 3}: true, {"get", "configmaps", 1}: true, {"watch", "configmaps", 1}: true}
	var counts []count
	shared.doJSON(t, &counts, "audit", "plain", "--user", "alice", "--since", mark, "--json")
	if len(counts) != len(want) {
		t.Errorf("counts %+v, want %+v", counts, want)
	}
	for _, c := range counts {
		if !want[c] {
			t.Errorf("counted %+v, want one of %+v", c, want)
		}
	}
	each := shared.do(t, "audit", "plain", "--user", "alice", "--since", mark, "--each")
	if lines := strings.Count(each, "\n"); lines != 5 || !strings.Contains(each, `"name":"missing","status":404`) {
		t.Errorf("each of alice's requests:\n%s", each)
	}
}
