package kube

import (
	"fmt"
	"strings"

	"go.landscaper.dev/lab/internal/ports"
)

// EtcdArgs start etcd. It does not wait for the disk: a lab's data dies with it.
func (c *Cluster) EtcdArgs() []string {
	client, peer := "https://"+ports.Address(c.etcdPort), "https://"+ports.Address(c.peerPort)
	return []string{
		"--name=lab",
		"--data-dir=" + c.path("etcd"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=lab=" + peer,
		"--cert-file=" + c.path("pki", "etcd.crt"),
		"--key-file=" + c.path("pki", "etcd.key"),
		"--trusted-ca-file=" + c.path("pki", "etcd-ca.crt"),
		"--client-cert-auth",
		"--peer-cert-file=" + c.path("pki", "etcd.crt"),
		"--peer-key-file=" + c.path("pki", "etcd.key"),
		"--peer-trusted-ca-file=" + c.path("pki", "etcd-ca.crt"),
		"--peer-client-cert-auth",
		"--unsafe-no-fsync",
		"--log-level=warn",
		// A lone member need not wait long for other candidates.
		"--heartbeat-interval=50",
		"--election-timeout=250",
	}
}

// APIServerArgs start kube-apiserver with what a default cluster has: RBAC, API
// priority and fairness, the default admission plugins. tokenWebhook is a
// kubeconfig for the webhook that knows the users made at run time; profiling
// serves the API server's profiles below /debug/pprof. Version is what it behaves like, or empty.
func (c *Cluster) APIServerArgs(tokenWebhook string, profiling bool, version string) []string {
	return append(append(c.issuerArgs(), emulated(version)...),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.serverPort),
		"--advertise-address=127.0.0.1",
		"--tls-cert-file="+c.path("pki", "apiserver.crt"),
		"--tls-private-key-file="+c.path("pki", "apiserver.key"),
		"--etcd-servers=https://"+ports.Address(c.etcdPort),
		"--etcd-cafile="+c.path("pki", "etcd-ca.crt"),
		"--etcd-certfile="+c.path("pki", "etcd-client.crt"),
		"--etcd-keyfile="+c.path("pki", "etcd-client.key"),
		"--client-ca-file="+c.CAFile(),
		"--token-auth-file="+c.path("pki", "tokens.csv"),
		"--authentication-token-webhook-config-file="+tokenWebhook,
		"--authentication-token-webhook-version=v1",
		"--authentication-token-webhook-cache-ttl=1s",
		"--requestheader-client-ca-file="+c.path("pki", "front-proxy-ca.crt"),
		"--requestheader-allowed-names="+frontProxyClient,
		"--requestheader-username-headers=X-Remote-User",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		// Aggregated API servers learn from it which proxy they may trust about users.
		"--proxy-client-cert-file="+c.path("pki", frontProxyClient+".crt"),
		"--proxy-client-key-file="+c.path("pki", frontProxyClient+".key"),
		"--service-account-key-file="+c.path("pki", "sa.pub"),
		"--service-account-signing-key-file="+c.path("pki", "sa.key"),
		"--authorization-mode=Node,RBAC",
		"--allow-privileged",
		"--service-cluster-ip-range="+serviceClusterIPs,
		"--endpoint-reconciler-type=none",
		"--audit-policy-file="+c.path("pki", "audit-policy.yaml"),
		"--audit-log-path="+c.AuditLog(),
		"--audit-log-format=json",
		// Written before the response ends, so that a client that has its
		// answer finds its request in the log.
		"--audit-log-mode=blocking",
		"--audit-log-maxsize=1000000",
		"--shutdown-delay-duration=0s",
		fmt.Sprintf("--profiling=%t", profiling),
	)
}

// emulated lets a program behave like that of an earlier version: what came later is not served, and
// what was not on by default is off.
func emulated(version string) []string {
	if version == "" {
		return nil
	}
	return []string{"--emulated-version=kube=" + version}
}

// controllers are those that make a cluster behave as users expect; those that
// talk to clouds, to volumes or to kubelets have no business here.
var controllers = []string{
	"serviceaccount-controller", "serviceaccount-token-controller", "root-ca-certificate-publisher-controller",
	"namespace-controller", "garbage-collector-controller", "clusterrole-aggregation-controller",
	"deployment-controller", "replicaset-controller", "statefulset-controller", "daemonset-controller",
	"job-controller", "cronjob-controller", "ttl-after-finished-controller",
	"node-lifecycle-controller",
	// The admission plugins that are on by default add finalizers to claims and volumes; without
	// these controllers the finalizers stay, and their namespaces never end.
	"persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller",
	"endpointslice-controller", "endpoints-controller", "resourcequota-controller", "disruption-controller",
	"validatingadmissionpolicy-status-controller",
}

// ControllerManagerArgs start kube-controller-manager.
func (c *Cluster) ControllerManagerArgs(version string) []string {
	return append(emulated(version),
		"--kubeconfig="+c.KubeconfigOf(ControllerManagerUser),
		"--controllers="+strings.Join(controllers, ","),
		"--root-ca-file="+c.CAFile(),
		"--service-account-private-key-file="+c.path("pki", "sa.key"),
		"--leader-elect=false",
		"--secure-port=0",
		"--profiling=false",
	)
}

// SchedulerArgs start kube-scheduler.
func (c *Cluster) SchedulerArgs() []string {
	return []string{
		"--kubeconfig=" + c.KubeconfigOf(SchedulerUser),
		"--leader-elect=false",
		"--secure-port=0",
		"--profiling=false",
	}
}
