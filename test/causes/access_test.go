package causes

import (
	"os"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/test/lab"
)

// clusterType is the type of Targets that are clusters.
const clusterType = "landscaper.gardener.cloud/kubernetes-cluster"

// weak is the kubeconfig of a user of the first target cluster who may read ConfigMaps and
// nothing else.
var weak string

// addWeak makes this user.
func addWeak(t lab.T) {
	t.Helper()
	file := env.Lab.Directory + "/weak.yaml"
	rules := `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: weak}, rules: [{apiGroups: [""], resources: [configmaps, namespaces], verbs: [get, list, watch]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: weak}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: weak}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: weak}]}
`
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatalf("write rules: %v", err)
	}
	user, err := env.Target.AddUser(t.Context(), lab.UserOptions{Name: "weak", ManifestFile: file})
	if err != nil {
		t.Fatalf("add a user: %v", err)
	}
	content, err := os.ReadFile(user.Kubeconfig)
	if err != nil {
		t.Fatalf("read a kubeconfig: %v", err)
	}
	weak = string(content)
}

// terminating makes a namespace that is being deleted for as long as the row plays.
func (s *stage) terminating(name string) {
	s.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := env.Workload.Create(s.Context(), made); err != nil {
		s.Fatal(err)
	}
	held := s.object(`{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [acme.example/guard]}}`)
	held.SetNamespace(name)
	if err := env.Workload.Create(s.Context(), held); err != nil {
		s.Fatal(err)
	}
	if err := env.Workload.Delete(s.Context(), made); err != nil {
		s.Fatal(err)
	}
}

func access() []row {
	const area = "access"
	target := func(spec string) func(*stage) given {
		return func(s *stage) given {
			s.retarget("north", spec)
			return app(s)
		}
	}
	return []row{
		{area: area, fault: "Context missing", cause: func(s *stage) given {
			g := app(s)
			g.context = "ghost"
			return g
		}, names: names{reason: `no Context|Context.*(not found|does not exist)`, object: `Context "?NS/ghost|Context "?ghost`, next: `create it`}},
		{area: area, fault: "Target of a check not imported", cause: func(s *stage) given {
			return given{items: list{manifests("one", check("far", m{"targetName": "ghost", "resourceSelector": list{m{"apiVersion": "v1", "kind": "ConfigMap", "name": "app", "namespace": s.space}}}), configMap(s.space, "app"))}}
		}, names: names{reason: `imports no Target`, object: `targetName`, next: `import it`}},
		{area: area, fault: "Target of another type", cause: func(s *stage) given {
			s.retarget("north", `{type: acme.example/printer, config: {kubeconfig: a}}`)
			g := app(s)
			return g
		}, names: names{reason: `acme\.example/printer`, object: `shop\.cluster|import "?cluster|level-3\S*\.cluster`, cluster: `north`, next: `expected landscaper\.gardener\.cloud/kubernetes-cluster|import a Target of type`}},
		{area: area, fault: "kubeconfig empty", cause: target(`{type: ` + clusterType + `, config: {kubeconfig: ""}}`),
			names: names{reason: `kubeconfig (is|has|.*empty|.*missing)|no kubeconfig`, object: `Target "?(NS/)?north`, cluster: `north`, next: `set (it|spec|config)|put |write |secretRef`}},
		{area: area, fault: "kubeconfig that is no YAML", cause: target(`{type: ` + clusterType + `, config: {kubeconfig: "a: [` + canary + `"}}`),
			names: names{reason: `kubeconfig cannot be decoded`, object: `Target "?(NS/)?north`, cluster: `north`, next: `line 1|correct`}},
		{area: area, fault: "Secret of a Target missing", waits: true, cause: target(`{type: ` + clusterType + `, secretRef: {name: gone, key: kubeconfig}}`),
			names: names{reason: `Secret.*gone.*(not found|does not exist|missing)|no Secret.*gone`, object: `Secret "?(NS/)?gone`, cluster: `north`, next: `create it`}},
		{area: area, fault: "key in the Secret of a Target missing", waits: true, cause: func(s *stage) given {
			s.secret("login", "other")
			s.retarget("north", `{type: `+clusterType+`, secretRef: {name: login, key: kubeconfig}}`)
			return app(s)
		}, names: names{reason: `no key|key.*(missing|does not|not)`, object: `Secret "?(NS/)?login`, cluster: `north`, next: `add it`}},
		{area: area, fault: "cluster unreachable", waits: true, cause: func(s *stage) given {
			s.withKubeconfig("north", s.kubeconfig("https://127.0.0.1:1", ""))
			return app(s)
		}, names: names{reason: `connection refused`, object: `127\.0\.0\.1:1\b`, cluster: `north`, next: `check the address`}},
		{area: area, fault: "cluster of an unknown authority", waits: true, cause: func(s *stage) given {
			s.withKubeconfig("north", s.kubeconfig(s.answering(200, true), ""))
			return app(s)
		}, names: names{reason: `unknown authority`, object: `127\.0\.0\.1:\d+`, cluster: `north`, next: `check the certificate authority`}},
		{area: area, fault: "token expired", cause: func(s *stage) given {
			s.withKubeconfig("north", s.kubeconfig("", canary))
			return app(s)
		}, names: names{reason: `401|unauthorized`, object: `127\.0\.0\.1:\d+`, cluster: `north`, next: `put valid credentials|renew`}},
		{area: area, fault: "verb forbidden", waits: true, cause: func(s *stage) given {
			s.withKubeconfig("north", weak)
			return app(s)
		}, names: names{reason: `403|forbidden|may not|not allowed`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `lacks? this permission|grant|allow `}},
		{area: area, fault: "namespace missing", waits: true, cause: func(s *stage) given {
			return given{items: list{manifests("one", m{}, configMap("nowhere-at-all", "app"))}}
		}, names: names{reason: `namespace.*nowhere-at-all.*(not found|does not exist|missing)|no namespace`, object: `ConfigMap "?nowhere-at-all/app`, cluster: `north`, next: `create it`}},
		{area: area, fault: "namespace terminating", waits: true, cause: func(s *stage) given {
			s.terminating(s.space + "-going")
			return given{items: list{manifests("one", m{}, configMap(s.space+"-going", "app"))}}
		}, names: names{reason: `terminat|being deleted`, object: `ConfigMap "?NS-going/app`, cluster: `north`, next: `finaliz|what holds|another namespace|remove |until it no longer exists|wait (for|until)`}},
		{area: area, fault: "Secret of the second Target missing", waits: true, cause: func(s *stage) given {
			s.retarget("south", `{type: `+clusterType+`, secretRef: {name: gone, key: kubeconfig}}`)
			return given{items: list{with(manifests("one", m{}, configMap(s.space, "app")), "target", m{"import": "second"})}}
		}, names: names{reason: `Secret.*gone.*(not found|does not exist|missing)|no Secret.*gone`, object: `Secret "?(NS/)?gone`, cluster: `south`, next: `create it`}},
	}
}
