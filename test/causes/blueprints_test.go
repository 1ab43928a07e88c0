package causes

func blueprints() []row {
	const area = "blueprints"
	return []row{
		{area: area, fault: "file missing", cause: func(*stage) given {
			return given{blueprint: m{"deployExecutions": list{m{"name": "default", "type": "GoTemplate", "file": "items.yaml"}}}}
		}, names: names{reason: `(no such file|does not exist|there is no file|no file)`, object: `items\.yaml`, next: `add it|create it|correct|name another|the blueprint has|put it`}},
		{area: area, fault: "file misspelt", cause: func(*stage) given {
			return given{files: map[string]string{"items.yaml": "deployItems: []"}, blueprint: m{"deployExecutions": list{m{"name": "default", "type": "GoTemplate", "file": "item.yaml"}}}}
		}, names: names{reason: `(no such file|does not exist|there is no file|no file)`, object: `item\.yaml`, next: `items\.yaml`}},
		{area: area, fault: "blueprint.yaml is no YAML", cause: func(*stage) given {
			return given{description: "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\nimports: [\n"}
		}, names: names{reason: `yaml|line \d+|did not find`, object: `blueprint\.yaml`, next: `line \d+`}},
		{area: area, fault: "field misspelt", cause: func(s *stage) given {
			g := app(s)
			g.blueprint = m{"exportExecution": list{}}
			return g
		}, names: names{reason: `unknown field|does not exist|has no effect|not known`, object: `exportExecution\b`, next: `did you mean.*exportExecutions`}},
		{area: area, fault: "GoTemplate that fails", cause: func(*stage) given {
			return given{blueprint: m{"deployExecutions": list{m{"name": "default", "type": "GoTemplate", "template": "deployItems: {{ fail \"no capacity left\" }}"}}}}
		}, names: names{reason: `no capacity left`, object: `execution.*"default"`, next: `default:1:16`}},
		{area: area, fault: "Spiff that fails", cause: func(*stage) given {
			return given{blueprint: m{"deployExecutions": list{m{"name": "spiffed", "type": "Spiff", "template": m{"deployItems": "(( imports.ghost ))"}}}}}
		}, names: names{reason: `imports\.ghost.*not found`, object: `spiffed`, next: `imports\.cluster|declare|correct`}},
		{area: area, fault: "schema that is wrong", cause: func(s *stage) given {
			s.value("port", "80")
			return given{imports: map[string]string{"port": `{"type":"intejer"}`}}
		}, names: names{reason: `intejer|type: Must be one of`, object: `port.*schema|schema.*port`, next: `one of: .*integer`}},
		{area: area, fault: "import execution that objects", cause: func(s *stage) given {
			s.value("port", "80")
			return given{imports: map[string]string{"port": "{}"}, blueprint: m{"importExecutions": list{m{"name": "ports", "type": "GoTemplate", "template": "errors: [\"choose a port above 1024\"]"}}}}
		}, names: names{reason: `choose a port above 1024`, object: `ports|import ?executions`, next: `choose a port`}},
		{area: area, fault: "item that depends on an unknown item", cause: func(s *stage) given {
			return given{items: list{with(manifests("one", m{}, configMap(s.space, "app")), "dependsOn", list{"ghost"})}}
		}, names: names{reason: `ghost.*there is no item`, object: `deployItems\[0\]\.dependsOn|"one"|item one`, next: `correct|remove|add |name (one|another)|the items are|use `}},
		{area: area, fault: "items in a cycle", cause: func(s *stage) given {
			return given{items: list{with(manifests("one", m{}, configMap(s.space, "a")), "dependsOn", list{"two"}), with(manifests("two", m{}, configMap(s.space, "b")), "dependsOn", list{"one"})}}
		}, names: names{reason: `cycle|circular`, object: `one.*two|two.*one`, next: `remove|dependsOn`}},
		{area: area, fault: "item without type", cause: func(*stage) given {
			return given{items: list{m{"name": "one", "config": m{}}}}
		}, names: names{reason: `required value`, object: `deployItems\[0\]\.type|"one"`, next: `(give|set|name) the type`}},
		{area: area, fault: "field of a configuration misspelt", cause: func(s *stage) given {
			return given{items: list{manifests("one", m{"readinessCheks": m{}}, configMap(s.space, "app"))}}
		}, names: names{reason: `unknown field|does not exist|has no effect|not known`, object: `readinessCheks`, next: `did you mean.*readinessChecks`}},
		{area: area, fault: "value of a configuration that does not exist", cause: func(s *stage) given {
			return given{items: list{manifests("one", m{"updateStrategy": "replace"}, configMap(s.space, "app"))}}
		}, names: names{reason: `updateStrategy`, object: `item.*one|"one"`, next: `use apply`}},
	}
}
