package causes

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/scenario"
)

// refused is an item with an object that no API server takes.
func refused(s *stage, name string) m {
	return manifests(name, m{}, m{"apiVersion": "v1", "kind": "Service", "metadata": m{"name": name, "namespace": s.space}, "spec": m{"ports": list{m{"port": 99999}}}})
}

// waiting is an item that waits until its time is over.
func waiting(s *stage, name string) m {
	return manifests(name, check("open", m{"resourceSelector": list{m{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "namespace": s.space}}}), configMap(s.space, name))
}

func trees() []row {
	const area = "trees"
	siblings := func(first func(*stage) m) func(*stage) given {
		return func(s *stage) given {
			one := given{items: list{first(s)}, exports: map[string]string{"out": "port"}, blueprint: exporting("out", "1")}
			two := app(s)
			two.imports, two.local = map[string]string{"port": "{}"}, true
			return given{blueprint: m{"subinstallations": list{one.template("one"), two.template("two")}}}
		}
	}
	items := func(first func(*stage) m) func(*stage) given {
		return func(s *stage) given {
			return given{items: list{first(s), with(manifests("two", m{}, configMap(s.space, "two")), "dependsOn", list{"one"})}}
		}
	}
	bad := func(s *stage) m { return refused(s, "one") }
	slow := func(s *stage) m { return waiting(s, "one") }
	broken := names{reason: `port.*(65535|range|invalid)|invalid.*port`, object: `Service "?NS/one`, cluster: `north`, next: `spec\.ports\[0\]\.port`}
	closed := names{reason: `\.?data\.state`, object: `ConfigMap "?NS/one`, cluster: `north`, next: `check "?open`}
	return []row{
		{area: area, fault: "sibling that fails", cause: siblings(bad), names: broken},
		{area: area, fault: "sibling that waits", waits: true, cause: siblings(slow), names: closed},
		{area: area, fault: "item that fails before others", waits: true, cause: items(bad), names: broken},
		{area: area, fault: "item that waits before others", waits: true, cause: items(slow), names: closed},
		{area: area, fault: "item beside Installations fails", cause: func(s *stage) given {
			g := given{items: list{bad(s)}}
			g.blueprint = m{"subinstallations": list{app(s).template("two")}}
			return g
		}, names: broken},
		{area: area, fault: "interruption", waits: true, cause: func(s *stage) given {
			return given{items: list{with(waiting(s, "one"), "timeout", "5m")}}
		}, end: interrupt, meanwhile: &closed,
			names: names{reason: `interrupt.*data\.state|data\.state.*interrupt`, object: `ConfigMap "?NS/one`, cluster: `north`, next: `another job|reconcile|check "?open`}},
		{area: area, fault: "no deployer for the type", waits: true, cause: func(*stage) given {
			return given{items: list{m{"name": "one", "type": "acme.example/printer", "target": m{"import": "cluster"}, "config": m{"apiVersion": "acme.example/v1", "kind": "Page"}}}}
		}, names: names{reason: `not (been )?picked up|no (running )?deployer`, object: `acme\.example/printer`, cluster: `north`, next: `(start|run) (one|a|the) |correct (the|its) type|--controllers|landscaper-cli doctor`}},
	}
}

// sync makes a TargetSync whose source is reached with a kubeconfig, and waits for its
// first run.
func (s *stage) sync(kubeconfig string) {
	s.Helper()
	s.secretOf("source", kubeconfig)
	made := &v1alpha1.TargetSync{ObjectMeta: metav1.ObjectMeta{Namespace: s.space, Name: "fleet"}, Spec: v1alpha1.TargetSyncSpec{
		SourceNamespace: s.space, SecretNameExpression: "^prod", SecretRef: v1alpha1.LocalSecretReference{Name: "source", Key: "kubeconfig"},
	}}
	if err := env.Admin.Create(s.Context(), made); err != nil {
		s.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); len(made.Status.Conditions) == 0; <-time.After(100 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatal("the TargetSync does not run")
		}
		if err := env.Admin.Get(s.Context(), client.ObjectKeyFromObject(made), made); err != nil {
			s.Fatal(err)
		}
	}
}

func targetSyncs() []row {
	const area = "TargetSync"
	fleet := func(kubeconfig func(*stage) string) func(*stage) given {
		return func(s *stage) given {
			s.sync(kubeconfig(s))
			g := app(s)
			g.target = "prod"
			return g
		}
	}
	const object, cluster = `TargetSync "?(NS/)?fleet`, `prod`
	// A source that cannot be reached has an address, which is no secret.
	const address = `127\.0\.0\.1:\d+`
	return []row{
		{area: area, fault: "source unreachable", cause: fleet(func(s *stage) string { return s.kubeconfig("https://127.0.0.1:1", canary) }),
			names: names{reason: `connection refused`, object: object + `.*` + address, cluster: cluster, next: `check the address`}},
		{area: area, fault: "source forbids", cause: fleet(func(*stage) string { return weak }),
			names: names{reason: `403|forbidden|may not|not allowed`, object: object, cluster: cluster, next: `list.*secrets|secrets.*list|grant|lacks? this permission`}},
		{area: area, fault: "token of the source expired", cause: fleet(func(s *stage) string { return s.kubeconfig("", canary) }),
			names: names{reason: `401|unauthorized`, object: object + `.*` + address, cluster: cluster, next: `put valid credentials|renew|new token|credentials`}},
		{area: area, fault: "name never made", cause: fleet(func(s *stage) string { return scenario.ReadFile(s.T, env.Lab.Clusters["second"].Kubeconfig) }),
			names: names{reason: `no Target.*prod`, object: object, cluster: cluster, next: `Secret|create it`}},
	}
}

func dead() []row {
	const area = "dead things"
	forever := func(s *stage) given {
		return given{items: list{with(waiting(s, "one"), "timeout", "5m")}}
	}
	return []row{
		{area: area, fault: "server without that deployer", waits: true, cause: func(*stage) given {
			return given{items: list{m{"name": "one", "type": "landscaper.gardener.cloud/mock", "target": m{"import": "cluster"}, "config": m{"apiVersion": "mock.deployer.landscaper.gardener.cloud/v1alpha1", "kind": "ProviderConfiguration"}}}}
		}, names: names{reason: `not (been )?picked up|no (running )?deployer`, object: `landscaper\.gardener\.cloud/mock`, cluster: `north`, next: `(start|run) (one|a|the) |correct (the|its) type|--controllers|landscaper-cli doctor`}},
		{area: area, fault: "Execution deleted", cause: forever, begun: func(s *stage) {
			s.tear(&v1alpha1.ExecutionList{})
		}, names: names{reason: `Execution \S+ was deleted by another client`, object: `Execution "?(NS/)?(shop|level-3)`, next: `another job|reconcile`}},
		{area: area, fault: "item deleted", cause: forever, begun: func(s *stage) {
			s.tear(&v1alpha1.DeployItemList{})
		}, names: names{reason: `item.*(gone|does not exist|deleted|missing)`, object: `item "?one`, next: `another job|reconcile`}},
		{area: area, fault: "subinstallation deleted", cause: func(s *stage) given {
			return given{blueprint: m{"subinstallations": list{forever(s).template("part")}}}
		}, begun: func(s *stage) {
			s.tear(&v1alpha1.InstallationList{})
		}, names: names{reason: `Installation \S+ was deleted by another client`, object: `Installation "?(NS/)?part-`, next: `another job|reconcile`}},
		{area: area, fault: "subinstallation deleted beside a waiting one", waits: true, cause: func(s *stage) given {
			return given{blueprint: m{"subinstallations": list{forever(s).template("part"), given{items: list{with(waiting(s, "two"), "timeout", "5m")}}.template("other")}}}
		}, begun: func(s *stage) {
			s.tear(&v1alpha1.InstallationList{})
		}, end: interrupt, names: names{reason: `Installation \S+ was deleted by another client`, object: `Installation "?(NS/)?part-`, next: `another job|reconcile`}},
	}
}

// tear removes objects of a kind in the namespace by force while they are at work: of
// Installations the subinstallation part.
func (s *stage) tear(list client.ObjectList) {
	s.Helper()
	if err := env.Admin.List(s.Context(), list, client.InNamespace(s.space)); err != nil {
		s.Fatal(err)
	}
	var objects []client.Object
	switch list := list.(type) {
	case *v1alpha1.ExecutionList:
		for i := range list.Items {
			objects = append(objects, &list.Items[i])
		}
	case *v1alpha1.InstallationList:
		for i := range list.Items {
			if list.Items[i].Annotations[v1alpha1.SubinstallationNameAnnotation] == "part" {
				objects = append(objects, &list.Items[i])
			}
		}
	case *v1alpha1.DeployItemList:
		for i := range list.Items {
			objects = append(objects, &list.Items[i])
		}
	}
	for _, object := range objects {
		if err := env.Admin.Delete(s.Context(), object); err != nil {
			s.Fatal(err)
		}
		s.patch(env.Admin, object, `{"metadata":{"finalizers":null}}`)
	}
}

func several() []row {
	const area = "two at once"
	const port = `port.*(65535|range|invalid)|invalid.*port`
	return []row{
		{area: area, fault: "two items fail", waits: true, cause: func(s *stage) given {
			return given{items: list{refused(s, "one"), refused(s, "two")}}
		}, names: names{reason: port, object: `Service "?NS/one.*Service "?NS/two|Service "?NS/(one|two).*\b(1|2) (more|others?|items?)`, cluster: `north`, next: `spec\.ports\[0\]\.port`}},
		{area: area, fault: "items fail on two targets", cause: func(s *stage) given {
			return given{items: list{refused(s, "one"), with(refused(s, "two"), "target", m{"import": "second"})}}
		}, names: names{reason: port, object: `Service "?NS/one.*Service "?NS/two`, cluster: `north.*south`, next: `spec\.ports\[0\]\.port`}},
		{area: area, fault: "two objects not ready", waits: true, cause: func(s *stage) given {
			return given{items: list{waiting(s, "one"), waiting(s, "two")}}
		}, names: names{reason: `\.?data\.state`, object: `ConfigMap "?NS/one.*ConfigMap "?NS/two|ConfigMap "?NS/(one|two).*\b(1|2) (more|others?|items?)`, cluster: `north`, next: `check "?open`}},
		{area: area, fault: "two imports missing", cause: func(*stage) given {
			return given{target: "phantom", imports: map[string]string{"port": "{}"}, refs: map[string]string{"port": "ghost"}, local: true}
		}, names: names{reason: `there is no|does not exist|is missing|Not found`, object: `ghost.*phantom|phantom.*ghost`, cluster: `phantom`, next: `create it|export it|let .* export|correct`}},
		{area: area, fault: "an item fails while another one waits", waits: true, cause: func(s *stage) given {
			return given{items: list{refused(s, "one"), waiting(s, "two")}}
		}, names: names{reason: `(` + port + `).*data\.state|data\.state.*(` + port + `)`, object: `Service "?NS/one.*ConfigMap "?NS/two|ConfigMap "?NS/two.*Service "?NS/one`, cluster: `north`, next: `spec\.ports\[0\]\.port`}},
		{area: area, fault: "two Installations fail", cause: func(s *stage) given {
			return given{blueprint: m{"subinstallations": list{given{items: list{refused(s, "one")}}.template("one"), given{items: list{refused(s, "two")}}.template("two")}}}
		}, names: names{reason: port, object: `Service "?NS/one.*Service "?NS/two|Service "?NS/(one|two).*\b(1|2) (more|others?)`, cluster: `north`, next: `spec\.ports\[0\]\.port`}},
	}
}
