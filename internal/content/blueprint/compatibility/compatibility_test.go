package compatibility

import (
	"strings"
	"testing"
	"testing/fstest"

	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/blueprint/schema"
)

const header = "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n"

func version(t *testing.T, text string) Version {
	t.Helper()
	loaded, err := blueprint.Load(fstest.MapFS{"blueprint.yaml": {Data: []byte(header + text)}})
	if err != nil {
		t.Fatal(err)
	}
	return Version{Info: loaded.Info, Schemas: schema.Compiler{Local: loaded.Info.LocalTypes, Files: loaded.Files, Default: loaded.Info.JSONSchemaVersion}}
}

func TestCompare(t *testing.T) {
	for _, test := range []struct{ reason, older, newer, want string }{
		{"nothing has changed", "imports: [{name: a, schema: {type: string}}]", "imports: [{name: a, schema: {type: string}}]", ""},
		{"an import is dropped: what users give is lost without a word", "imports: [{name: a, schema: {}}]", "", "breaking: import a: it does not exist any more: what is given for it has no effect [giving]"},
		{"no user gives an import that is new", "", "imports: [{name: a, schema: {}}]", "breaking: import a: it is new and required [all]"},
		{"an optional one need not be given", "", "imports: [{name: a, schema: {}, required: false}]", "note: import a: it is new and optional [none]"},
		{"an import becomes required", "imports: [{name: a, schema: {}, required: false}]", "imports: [{name: a, schema: {}}]", "breaking: import a: it is required now [leaving]"},
		{"an import becomes optional", "imports: [{name: a, schema: {}}]", "imports: [{name: a, schema: {}, required: false}]", "note: import a: it is not required any more [none]"},
		{"data becomes a Target", "imports: [{name: a, schema: {}}]", "imports: [{name: a, targetType: t}]", "breaking: import a: its type was data, and is target [giving]"},
		{"a Target becomes a list", "imports: [{name: a, targetType: t}]", "imports: [{name: a, type: targetList, targetType: t}]", "breaking: import a: its type was target, and is targetList [giving]"},
		{"a Target of another type", "imports: [{name: a, targetType: t}]", "imports: [{name: a, targetType: u/v}]", "breaking: import a: its target type was landscaper.gardener.cloud/t, and is u/v [giving]"},
		{"the long name of a target type is the same type", "imports: [{name: a, targetType: t}]", "imports: [{name: a, type: target, targetType: landscaper.gardener.cloud/t}]", ""},
		{"another default changes what those get who rely on it", "imports: [{name: a, schema: {}, required: false, default: {value: 1}}]", "imports: [{name: a, schema: {}, required: false, default: {value: {b: 2}}}]", `warning: import a: its default was 1, and is {"b":2} [leaving]`},
		{"a default is dropped", "imports: [{name: a, schema: {}, required: false, default: {value: 1}}]", "imports: [{name: a, schema: {}, required: false}]", "warning: import a: it has no default any more, which was 1 [leaving]"},
		{"a default is new", "imports: [{name: a, schema: {}, required: false}]", "imports: [{name: a, schema: {}, required: false, default: {value: x}}]", `warning: import a: it has a default now: "x" [leaving]`},
		{"a default is written in another way", "imports: [{name: a, schema: {}, required: false, default: {value: {a: 1, b: 2}}}]", "imports: [{name: a, schema: {}, required: false, default: {value: {b: 2, a: 1}}}]", ""},
		{"a schema is narrowed", "imports: [{name: a, schema: {type: integer, minimum: 1}}]", "imports: [{name: a, schema: {type: integer, minimum: 2}}]", "breaking: import a: minimum was 1, and is 2: values that were allowed are refused [giving]"},
		{"a schema is widened", "imports: [{name: a, schema: {type: integer, minimum: 2}}]", "imports: [{name: a, schema: {type: integer}}]", ""},
		{"a choice is dropped", "imports: [{name: a, schema: {enum: [x, z]}}]", "imports: [{name: a, schema: {enum: [x]}}]", `breaking: import a: "z" is not allowed any more [giving]`},
		{"a field is required", "imports: [{name: a, schema: {type: object, properties: {b: {type: string}}}}]", "imports: [{name: a, schema: {type: object, properties: {b: {type: string}}, required: [b]}}]", "breaking: import a: b: it is required now [giving]"},
		{"a field that was free is declared", "imports: [{name: a, schema: {type: object}}]", "imports: [{name: a, schema: {type: object, properties: {b: {type: string}}}}]", "warning: import a: b: it is declared now: a value that is not string had no effect before, and is refused [giving]"},
		{"a field is dropped, and tolerated", "imports: [{name: a, schema: {type: object, properties: {b: {type: string}}}}]", "imports: [{name: a, schema: {type: object}}]", "warning: import a: b: it is not declared any more: what is given for it has no effect [giving]"},
		{"a pattern cannot be compared with another", "imports: [{name: a, schema: {type: string, pattern: '^[a-f]+$'}}]", "imports: [{name: a, schema: {type: string, pattern: '^[0-9a-f]+$'}}]", "unknown: import a: pattern was ^[a-f]+$, and is ^[0-9a-f]+$: whether that allows the same values cannot be decided [giving]"},
		{"a local type is narrowed", "localTypes: {x: {type: string}}\nimports: [{name: a, schema: {$ref: 'local://x'}}]", "localTypes: {x: {type: string, maxLength: 3}}\nimports: [{name: a, schema: {$ref: 'local://x'}}]", "breaking: import a: maxLength was not limited, and is 3: values that were allowed are refused [giving]"},
		{"the component of a schema is not given", "imports: [{name: a, schema: {$ref: 'cd://resources/x'}}]", "imports: [{name: a, schema: {}}]", "unknown: import a: its schema refers to a component, which is not given [giving]"},

		{"a condition: new and required only for those that give p", "imports: [{name: p, schema: {}, required: false}]", "imports: [{name: p, schema: {}, required: false, imports: [{name: a, schema: {}}]}]", "breaking: import a: it is new and required where p is given [all when p]"},
		{"a condition that no user can fulfil yet", "", "imports: [{name: p, schema: {}, required: false, imports: [{name: a, schema: {}}]}]", "note: import a: it is new, and required only with other new imports [none when p]; note: import p: it is new and optional [none]"},
		{"a conditional import becomes required for all", "imports: [{name: p, schema: {}, required: false, imports: [{name: a, schema: {}}]}]", "imports: [{name: p, schema: {}, required: false}, {name: a, schema: {}}]", "breaking: import a: it is required now [leaving]"},
		{"a required import is needed only with p, and may still be given", "imports: [{name: p, schema: {}, required: false}, {name: a, schema: {}}]", "imports: [{name: p, schema: {}, required: false, imports: [{name: a, schema: {}}]}]", "warning: import a: it exists only where p is given: elsewhere, what is given for it has no effect [giving]"},
		{"a default fulfils a condition always", "imports: [{name: p, schema: {}, required: false, default: {value: 1}}]", "imports: [{name: p, schema: {}, required: false, default: {value: 1}, imports: [{name: a, schema: {}}]}]", "breaking: import a: it is new and required [all]"},
		{"a conditional import is narrowed", "imports: [{name: p, schema: {}, required: false, imports: [{name: a, schema: {type: [string, 'null']}}]}]", "imports: [{name: p, schema: {}, required: false, imports: [{name: a, schema: {type: string}}]}]", "breaking: import a: type was null or string, and is string: values that were allowed are refused [giving]"},

		{"an export is dropped", "exports: [{name: e, schema: {}}]", "", "breaking: export e: it does not exist any more [giving]"},
		{"an export is new", "", "exports: [{name: e, schema: {}}]", "note: export e: it is new [none]"},
		{"an export of another kind", "exports: [{name: e, schema: {}}]", "exports: [{name: e, targetType: t}]", "breaking: export e: its type was data, and is target [giving]"},
		{"a Target of another type is exported", "exports: [{name: e, targetType: t}]", "exports: [{name: e, targetType: u}]", "breaking: export e: its target type was landscaper.gardener.cloud/t, and is landscaper.gardener.cloud/u [giving]"},
		{"readers meet values that they did not expect", "exports: [{name: e, schema: {type: integer, maximum: 3}}]", "exports: [{name: e, schema: {type: integer, maximum: 4}}]", "breaking: export e: maximum was 3, and is 4: values may appear that were not possible [giving]"},
		{"an export is narrowed", "exports: [{name: e, schema: {type: integer}}]", "exports: [{name: e, schema: {type: integer, maximum: 4}}]", ""},
		{"a choice is added to an export", "exports: [{name: e, schema: {enum: [x]}}]", "exports: [{name: e, schema: {enum: [x, z]}}]", `breaking: export e: "z" may appear now [giving]`},
		{"a field that readers rely on may be missing", "exports: [{name: e, schema: {type: object, properties: {b: {type: string}}, required: [b]}}]", "exports: [{name: e, schema: {type: object, properties: {b: {type: string}}}}]", "breaking: export e: b: it may be missing now [giving]"},
		{"a field is added to an export", "exports: [{name: e, schema: {type: object}}]", "exports: [{name: e, schema: {type: object, properties: {b: {type: string}}, required: [b]}}]", ""},
		{"an optional field is dropped", "exports: [{name: e, schema: {type: object, properties: {b: {type: string}}}}]", "exports: [{name: e, schema: {type: object}}]", "warning: export e: b: it is not declared any more [giving]"},
		{"an optional field is refused", "exports: [{name: e, schema: {type: object, properties: {b: {type: string}}}}]", "exports: [{name: e, schema: {type: object, additionalProperties: false}}]", "warning: export e: b: it is not declared any more [giving]"},
		{"readers meet fields that were refused", "exports: [{name: e, schema: {type: object, additionalProperties: false}}]", "exports: [{name: e, schema: {type: object}}]", "breaking: export e: properties that are not declared may appear now [giving]"},

		{"the worst comes first", "imports: [{name: a, schema: {}}]\nexports: [{name: e, schema: {}}]", "imports: [{name: a, schema: {}, required: false}]", "breaking: export e: it does not exist any more [giving]; note: import a: it is not required any more [none]"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			findings, err := Compare(t.Context(), version(t, test.older), version(t, test.newer))
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, f := range findings {
				users := string(f.Users)
				if len(f.When) > 0 {
					users += " when " + strings.Join(f.When, ", ")
				}
				all = append(all, f.String()+" ["+users+"]")
			}
			if got := strings.Join(all, "; "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestBrokenSchema: what cannot be read is an error that names the import and the version.
func TestBrokenSchema(t *testing.T) {
	_, err := Compare(t.Context(), version(t, "imports: [{name: a, schema: {}}]"), version(t, "imports: [{name: a, schema: {type: text}}]"))
	if err == nil || !strings.HasPrefix(err.Error(), "import a: newer version: ") {
		t.Errorf("%v", err)
	}
}
