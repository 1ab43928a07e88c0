package causes

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// never is a check that no ConfigMap passes: an item with it runs until its time is over.
func never(space string) m {
	return check("open", m{"resourceSelector": list{m{"apiVersion": "v1", "kind": "ConfigMap", "name": "app", "namespace": space}}})
}

// check is a custom check of readiness for a field that is never written.
func check(name string, more m) m {
	made := m{"name": name, "requirements": list{m{"jsonPath": ".data.state", "operator": "==", "values": list{m{"value": "open"}}}}}
	for key, value := range more {
		made[key] = value
	}
	return m{"readinessChecks": m{"custom": list{made}}}
}

// app is an Installation that works.
func app(s *stage) given {
	return given{items: list{manifests("one", m{}, configMap(s.space, "app"))}}
}

// value makes a DataObject.
func (s *stage) value(name, content string) {
	s.Helper()
	made := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: s.space, Name: name}, Data: v1alpha1.NewAnyJSON([]byte(content))}
	if err := env.Admin.Create(s.Context(), made); err != nil {
		s.Fatal(err)
	}
}

// secret makes a Secret whose values are the canary.
func (s *stage) secret(name string, keys ...string) {
	s.Helper()
	made := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.space, Name: name}, Data: map[string][]byte{}}
	for _, key := range keys {
		made.Data[key] = []byte(canary)
	}
	if err := env.Admin.Create(s.Context(), made); err != nil {
		s.Fatal(err)
	}
}

// secretOf makes a Secret with a kubeconfig.
func (s *stage) secretOf(name, kubeconfig string) {
	s.Helper()
	made := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.space, Name: name}, Data: map[string][]byte{"kubeconfig": []byte(kubeconfig)}}
	if err := env.Admin.Create(s.Context(), made); err != nil {
		s.Fatal(err)
	}
}

// giver is a root that exports the DataObject port, whose only item is given; its own
// fault is as deep as that of the row.
func (s *stage) giver(item m) *v1alpha1.Installation {
	s.Helper()
	g := given{
		items: list{item},
		blueprint: m{
			"exports":          list{m{"name": "port", "schema": m{"type": "integer"}}},
			"exportExecutions": list{m{"name": "default", "type": "GoTemplate", "template": "exports: {port: 80}"}},
		},
		exports: map[string]string{"port": "port"},
	}
	if s.depth > 0 {
		leaf := g
		leaf.blueprint, leaf.exports = nil, nil
		g = given{blueprint: m{
			"exports": g.blueprint["exports"], "exportExecutions": g.blueprint["exportExecutions"],
			"subinstallations": list{leaf.above("level-3").above("level-2").template("level-1")},
		}, exports: g.exports}
	}
	return env.Create(s.T, g.installation(s.space, "giver", 0))
}

func dataFlow() []row {
	const area = "data flow"
	return []row{
		{area: area, fault: "import of data missing", cause: func(s *stage) given {
			return given{imports: map[string]string{"port": `{"type":"integer"}`}, refs: map[string]string{"port": "ghost"}, local: true}
		}, names: names{reason: `there is no (DataObject|import).*"?ghost|Not found: "ghost"|"?ghost"? (does not exist|is missing)`, object: `port.*ghost|imports\.data\[0\]`, next: `create it|export it|let .* export|correct`}},
		{area: area, fault: "import of a Target missing", cause: func(*stage) given {
			return given{target: "phantom", local: true}
		}, names: names{reason: `there is no (Target|import).*"?phantom|Not found: "phantom"|"?phantom"? (does not exist|is missing)`, object: `cluster.*phantom|imports\.targets\[0\]`, cluster: `phantom`, next: `create it|export it|let .* export|correct`}},
		{area: area, fault: "entry of a list of Targets missing", cause: func(*stage) given {
			return given{lists: map[string][]string{"fleet": {"north", "phantom"}}, local: true}
		}, names: names{reason: `there is no (Target|import).*"?phantom|Not found: "phantom"|"?phantom"? (does not exist|is missing)`, object: `fleet|imports\.targets\[2\]`, cluster: `phantom`, next: `create it|export it|let .* export|correct`}},
		{area: area, fault: "import of another type", cause: func(s *stage) given {
			s.value("port", `"eighty"`)
			return given{imports: map[string]string{"port": `{"type":"integer"}`}}
		}, names: names{reason: `invalid type.*integer`, object: `\bport\b`, next: `DataObject "?(NS/)?port|dataRef|(correct|change) `}},
		{area: area, fault: "import that breaks a schema", cause: func(s *stage) given {
			s.value("size", `{"replicas": 9}`)
			return given{imports: map[string]string{"size": `{"type":"object","properties":{"replicas":{"type":"integer","maximum":5}}}`}}
		}, names: names{reason: `less than or equal to 5`, object: `size.*replicas`, next: `DataObject "?(NS/)?size|dataRef|(correct|change) `}},
		{area: area, fault: "key of an imported Secret missing", cause: func(s *stage) given {
			s.secret("login", "user")
			return given{imports: map[string]string{"password": `{"type":"string"}`}, secrets: map[string]string{"password": "login/password"}}
		}, names: names{reason: `no key|key.*(missing|not)|does not have`, object: `Secret.*login`, next: `add (it|the key)|correct|name another|there (is|are)`}},
		{area: area, fault: "cycle of subinstallations", cause: func(*stage) given {
			one := given{imports: map[string]string{"a": "{}"}, local: true, exports: map[string]string{"out": "b"}, blueprint: exporting("out", "1")}
			two := given{imports: map[string]string{"b": "{}"}, local: true, exports: map[string]string{"out": "a"}, blueprint: exporting("out", "1")}
			return given{blueprint: m{"subinstallations": list{one.template("one"), two.template("two")}}}
		}, names: names{reason: `cycle|circular`, object: `one.*two|two.*one`, next: `(change|remove) .*(import|export)`}},
		{area: area, fault: "two exporters of one name", cause: func(*stage) given {
			one := given{exports: map[string]string{"out": "port"}, blueprint: exporting("out", "1")}
			return given{blueprint: m{"subinstallations": list{one.template("one"), one.template("two")}}}
		}, names: names{reason: `export.*port|port.*export`, object: `one.*two|two.*one`, next: `(rename|change|give|export|choose|use) `}},
		{area: area, fault: "export never produced", cause: func(s *stage) given {
			g := app(s)
			g.exports, g.blueprint = map[string]string{"out": "port"}, exporting("other", "1")
			g.blueprint["exports"] = list{m{"name": "out", "schema": m{}}}
			return g
		}, names: names{reason: `\bout\b.*(missing|not defined|no value)`, object: `exports.*\bout\b|export "?out`, next: `let an export ?execution|add it`}},
		{area: area, fault: "export mapping that fails", cause: func(s *stage) given {
			g := app(s)
			g.exports, g.blueprint, g.exportMappings = map[string]string{"out": "port"}, exporting("out", "1"), m{"out": "(( ghost.field ))"}
			return g
		}, names: names{reason: `ghost`, object: `exportDataMappings.*\bout\b`, next: `it can use exports, out|correct`}},
		{area: area, fault: "import mapping that fails", cause: func(s *stage) given {
			s.value("site", `{"domain": "example.org"}`)
			return given{imports: map[string]string{"site": "{}"}, importMappings: m{"site": "(( site.ghost ))"}}
		}, names: names{reason: `ghost`, object: `importDataMappings.*site`, next: `it can use .*site|correct`}},
		{area: area, fault: "import whose exporter has failed", cause: func(s *stage) given {
			giver := s.giver(manifests("one", m{}, m{"apiVersion": "acme.example/v1", "kind": "Ghost", "metadata": m{"name": "app", "namespace": s.space}}))
			env.WaitFinished(s.T, giver, "")
			return given{imports: map[string]string{"port": `{"type":"integer"}`}}
		}, names: names{reason: `giver.*Ghost`, object: `import "?port|DataObject "port"`, cluster: `north`, next: `install .*CustomResourceDefinition`}},
		{area: area, fault: "import whose exporter waits", waits: true, cause: func(s *stage) given {
			s.giver(manifests("one", never(s.space), configMap(s.space, "app")))
			return given{imports: map[string]string{"port": `{"type":"integer"}`}}
		}, names: names{reason: `giver.*data\.state`, object: `import "?port|DataObject "port"`, cluster: `north`, next: `check "?open`}},
	}
}

// exporting are fields of a blueprint that exports a number.
func exporting(name, value string) m {
	return m{
		"exports":          list{m{"name": name, "schema": m{"type": "integer"}}},
		"exportExecutions": list{m{"name": "default", "type": "GoTemplate", "template": "exports: {" + name + ": " + value + "}"}},
	}
}
