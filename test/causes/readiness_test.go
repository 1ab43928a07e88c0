package causes

func readiness() []row {
	const area = "readiness"
	one := func(object func(*stage) m, more m) func(*stage) given {
		return func(s *stage) given { return given{items: list{manifests("one", more, object(s))}} }
	}
	kstatus := m{"readinessChecks": m{"mode": "kstatus"}}
	fated := func(fate string) func(*stage) m { return func(s *stage) m { return deployment(s.space, fate) } }
	engine := func(s *stage) {
		s.yaml(env.Workload, `{apiVersion: acme.example/v1, kind: Engine, metadata: {name: motor, namespace: NS}, spec: {}}`)
	}
	return []row{
		{area: area, fault: "Deployment unschedulable", waits: true, cause: one(fated("unschedulable"), m{}),
			names: names{reason: `Unschedulable`, object: `Deployment "?NS/web`, cluster: `north`, next: `Insufficient cpu|pod "?(NS/)?web-`}},
		{area: area, fault: "image cannot be pulled", waits: true, cause: one(fated("no-image"), m{}),
			names: names{reason: `ImagePullBackOff`, object: `Deployment "?NS/web`, cluster: `north`, next: `container "?server`}},
		{area: area, fault: "container crashes", waits: true, cause: one(fated("crash"), m{}),
			names: names{reason: `CrashLoopBackOff`, object: `Deployment "?NS/web`, cluster: `north`, next: `container "?server.*code 3`}},
		{area: area, fault: "Deployment without pods", waits: true, cause: func(s *stage) given {
			s.yaml(env.Workload, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: few, namespace: NS}, spec: {hard: {pods: "0"}}}`)
			s.awaitQuota("few")
			return one(fated("crash"), m{})(s)
		}, names: names{reason: `quota|FailedCreate`, object: `Deployment "?NS/web`, cluster: `north`, next: `quota "?few|few|FailedCreate`}},
		{area: area, fault: "check never true", waits: true, cause: func(s *stage) given {
			return given{items: list{manifests("one", never(s.space), configMap(s.space, "app"))}}
		}, names: names{reason: `\.?data\.state`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `check "?open`}},
		{area: area, fault: "object of a check missing", waits: true, cause: func(s *stage) given {
			return given{items: list{manifests("one", check("open", m{"resourceSelector": list{m{"apiVersion": "v1", "kind": "ConfigMap", "name": "ghost", "namespace": s.space}}}), configMap(s.space, "app"))}}
		}, names: names{reason: `(not found|does not exist|missing)`, object: `ConfigMap "?NS/ghost`, cluster: `north`, next: `check "?open`}},
		{area: area, fault: "labels of a check fit no object", waits: true, cause: func(s *stage) given {
			return given{items: list{manifests("one", check("open", m{"labelSelector": m{"apiVersion": "v1", "kind": "ConfigMap", "namespace": s.space, "matchLabels": m{"app": "ghost"}}}), configMap(s.space, "app"))}}
		}, names: names{reason: `no (object|ConfigMap)|(not found|does not exist|there is no)`, object: `ConfigMap.*app=ghost.*NS|ConfigMap.*NS.*app=ghost|NS/app=ghost of type ConfigMap`, cluster: `north`, next: `check "?open`}},
		{area: area, fault: "Job failed", cause: one(func(s *stage) m { return job(s.space, "fail") }, kstatus),
			names: names{reason: `BackoffLimitExceeded|failed`, object: `Job "?NS/migrate`, cluster: `north`, next: `code 3|pod "?(NS/)?migrate-`}},
		{area: area, fault: "definition never established", cause: func(s *stage) given {
			plural := "things" // of the group of the namespace, so that rows do not meet
			group := s.space + ".example"
			s.yaml(env.Workload, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: others.NS.example}, spec: {group: NS.example, scope: Namespaced, names: {plural: others, singular: thing, kind: Other, listKind: OtherList}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`)
			return given{items: list{manifests("one", kstatus, m{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": m{"name": plural + "." + group}, "spec": m{
				"group": group, "scope": "Namespaced", "names": m{"plural": plural, "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
				"versions": list{m{"name": "v1", "served": true, "storage": true, "schema": m{"openAPIV3Schema": m{"type": "object"}}}},
			}})}}
		}, names: names{reason: `NamesNotAccepted|NamesAccepted|SingularConflict|already in use|not established`, object: `CustomResourceDefinition "?things\.NS\.example`, cluster: `north`, next: `thing.*already in use|already in use`}},
		{area: area, fault: "object stalled", cause: func(s *stage) given {
			engine(s)
			s.patchStatus(`{apiVersion: acme.example/v1, kind: Engine, metadata: {name: motor, namespace: NS}}`, `{"status":{"conditions":[{"type":"Stalled","status":"True","reason":"NoFuel","message":"fill the tank"}]}}`)
			return given{items: list{manifests("one", kstatus, m{"apiVersion": "acme.example/v1", "kind": "Engine", "metadata": m{"name": "motor", "namespace": s.space}, "spec": m{}})}}
		}, names: names{reason: `NoFuel|fill the tank`, object: `Engine "?NS/motor`, cluster: `north`, next: `fill the tank`}},
		{area: area, fault: "object not ready by its own account", waits: true, cause: func(s *stage) given {
			engine(s)
			s.patchStatus(`{apiVersion: acme.example/v1, kind: Engine, metadata: {name: motor, namespace: NS}}`, `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"NoFuel","message":"fill the tank"}]}}`)
			return given{items: list{manifests("one", kstatus, m{"apiVersion": "acme.example/v1", "kind": "Engine", "metadata": m{"name": "motor", "namespace": s.space}, "spec": m{}})}}
		}, names: names{reason: `NoFuel|fill the tank`, object: `Engine "?NS/motor`, cluster: `north`, next: `fill the tank`}},
		{area: area, fault: "check on the second target never true", waits: true, cause: func(s *stage) given {
			s.yaml(s.south(), `{apiVersion: v1, kind: ConfigMap, metadata: {name: far, namespace: NS}, data: {state: closed}}`)
			return given{items: list{manifests("one", check("open", m{"targetName": theSecond, "resourceSelector": list{m{"apiVersion": "v1", "kind": "ConfigMap", "name": "far", "namespace": s.space}}}), configMap(s.space, "app"))}}
		}, names: names{reason: `\.?data\.state`, object: `ConfigMap "?NS/far`, cluster: `south`, next: `check "?open`}},
		{area: area, fault: "object of a check on the second target missing", waits: true, cause: func(s *stage) given {
			return given{items: list{manifests("one", check("open", m{"targetName": theSecond, "resourceSelector": list{m{"apiVersion": "v1", "kind": "ConfigMap", "name": "far", "namespace": s.space}}}), configMap(s.space, "app"))}}
		}, names: names{reason: `(not found|does not exist|missing)`, object: `ConfigMap "?NS/far`, cluster: `south`, next: `check "?open`}},
	}
}

// theSecond is the name of the second Target, as templates take it from the import.
const theSecond = "{{ .imports.second.metadata.name }}"

// patchStatus changes the status of an object of the target cluster.
func (s *stage) patchStatus(object, patch string) {
	s.Helper()
	if err := env.Workload.Status().Patch(s.Context(), s.object(object), mergePatch(patch)); err != nil {
		s.Fatal(err)
	}
}

func exports() []row {
	const area = "exports"
	export := func(value func(*stage) m) func(*stage) given {
		return func(s *stage) given {
			return given{items: list{manifests("one", m{"exports": m{"exports": list{value(s)}}}, configMap(s.space, "app"))}}
		}
	}
	from := func(s *stage, name string) m {
		return m{"apiVersion": "v1", "kind": "ConfigMap", "name": name, "namespace": s.space}
	}
	return []row{
		{area: area, fault: "field missing", waits: true, cause: export(func(s *stage) m {
			return m{"key": "port", "jsonPath": ".data.port", "fromResource": from(s, "app")}
		}), names: names{reason: `\.?data\.port`, object: `ConfigMap "?NS/app`, cluster: `north`, next: `to export "?port|export "?port|export - key: port`}},
		{area: area, fault: "object missing", waits: true, cause: export(func(s *stage) m {
			return m{"key": "port", "jsonPath": ".data.port", "fromResource": from(s, "ghost")}
		}), names: names{reason: `(not found|does not exist|missing)`, object: `ConfigMap "?NS/ghost`, cluster: `north`, next: `to export "?port|export "?port|export - key: port`}},
		{area: area, fault: "object on the second target missing", waits: true, cause: export(func(s *stage) m {
			return m{"key": "port", "jsonPath": ".data.port", "targetName": theSecond, "fromResource": from(s, "ghost")}
		}), names: names{reason: `(not found|does not exist|missing)`, object: `ConfigMap "?NS/ghost`, cluster: `south`, next: `to export "?port|export "?port|export - key: port`}},
		{area: area, fault: "field on the second target missing", waits: true, cause: export(func(s *stage) m {
			s.yaml(s.south(), `{apiVersion: v1, kind: ConfigMap, metadata: {name: far, namespace: NS}, data: {state: closed}}`)
			return m{"key": "port", "jsonPath": ".data.port", "targetName": theSecond, "fromResource": from(s, "far")}
		}), names: names{reason: `\.?data\.port`, object: `ConfigMap "?NS/far`, cluster: `south`, next: `to export "?port|export "?port|export - key: port`}},
		{area: area, fault: "export of another type", cause: func(s *stage) given {
			g := app(s)
			g.exports, g.blueprint = map[string]string{"out": "port"}, exporting("out", `"eighty"`)
			return g
		}, names: names{reason: `invalid type|integer`, object: `export.*out|out.*export`, next: `expected: integer`}},
	}
}
