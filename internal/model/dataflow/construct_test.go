package dataflow

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

const clusterType = string(v1alpha1.KubernetesClusterTargetType)

// fleet is what the Installations of these tests import.
func fleet() Imports {
	return Imports{
		Data: map[string]DataImport{
			"size":     data(`{"replicas":3,"id":123456789012345678901234567890,"ratio":1.10}`),
			"password": data(`"` + hidden + `"`),
			"nothing":  data(`null`),
			"broken":   data(`"` + hidden),
			"flag":     data(`true`),
		},
		Targets:     map[string]*v1alpha1.Target{"cluster": target("host", `{"kubeconfig":"`+hidden+`"}`), "vm": otherTarget("machine"), "untyped": {}, "unreadable": target("bad", `"`+hidden)},
		TargetLists: map[string][]*v1alpha1.Target{"list": {target("a", "{}"), target("b", "{}")}, "empty": {}, "mixed": {target("a", "{}"), otherTarget("b"), nil}, "unreadables": {target("bad", `"`+hidden)}},
		TargetMaps:  map[string]map[string]*v1alpha1.Target{"map": {"north": target("a", "{}")}, "none": {}, "mixedMap": {"x": target("a", "{}"), "y": otherTarget("b"), "z": {}}},
	}
}

func TestConstruct(t *testing.T) {
	tests := []struct {
		reason, definitions string
		mapped              map[string]any
		// want are the values by import as JSON; of Targets the names.
		want map[string]string
	}{
		{"data", "[{name: size, type: data, schema: {type: object}}]", nil, map[string]string{"size": `{"id":123456789012345678901234567890,"ratio":1.1,"replicas":3}`}},
		{"old definitions have no type", "[{name: flag, schema: {type: boolean}}, {name: cluster, targetType: kubernetes-cluster}]", nil, map[string]string{"flag": "true", "cluster": "host"}},
		{"a mapping comes before an import of the same name", "[{name: flag, schema: {type: integer}}]", map[string]any{"flag": int64(5)}, map[string]string{"flag": "5"}},
		{"a mapping can make data that is not imported", "[{name: made, schema: {type: string}}]", map[string]any{"made": "x"}, map[string]string{"made": `"x"`}},
		{"a mapping can make a data import from a Target of the same name", "[{name: cluster, schema: {type: string}}]", map[string]any{"cluster": "host"}, map[string]string{"cluster": `"host"`}},
		{"null is a value", "[{name: nothing, schema: {type: 'null'}, required: false, default: {value: 5}}]", nil, map[string]string{"nothing": "null"}},
		{"null of a mapping is a value", "[{name: flag, schema: {type: 'null'}}]", map[string]any{"flag": nil}, map[string]string{"flag": "null"}},
		{"a default", "[{name: level, schema: {type: integer}, required: false, default: {value: 5}}]", nil, map[string]string{"level": "5"}},
		{"a given value is taken instead of the default", "[{name: flag, schema: {type: boolean}, required: false, default: {value: false}}]", nil, map[string]string{"flag": "true"}},
		{"an optional import may be missing", "[{name: level, schema: {}, required: false}, {name: x, targetType: a, required: false}, {name: 'y', type: targetList, targetType: a, required: false}, {name: z, type: targetMap, targetType: a, required: false}]", nil, nil},
		{"an import that the blueprint does not declare is not shown", "[]", map[string]any{"other": 1}, nil},
		{"a list keeps its order", "[{name: list, type: targetList, targetType: kubernetes-cluster}]", nil, map[string]string{"list": "a b"}},
		{"an empty list is a list", "[{name: empty, type: targetList, targetType: kubernetes-cluster}]", nil, map[string]string{"empty": ""}},
		{"a map", "[{name: map, type: targetMap, targetType: kubernetes-cluster}]", nil, map[string]string{"map": "north=a"}},
		{"an empty map is a map", "[{name: none, type: targetMap, targetType: kubernetes-cluster}]", nil, map[string]string{"none": ""}},
		{"conditional imports below data", "[{name: size, schema: {}, required: false, imports: [{name: flag, schema: {}}]}]", nil, map[string]string{"size": "-", "flag": "true"}},
		{"conditional imports below a Target", "[{name: cluster, targetType: kubernetes-cluster, required: false, imports: [{name: flag, schema: {}}]}]", nil, map[string]string{"cluster": "host", "flag": "true"}},
		{"conditional imports below a list, even an empty one", "[{name: empty, type: targetList, targetType: kubernetes-cluster, required: false, imports: [{name: flag, schema: {}}]}]", nil, map[string]string{"empty": "", "flag": "true"}},
		{"conditional imports below a map", "[{name: map, type: targetMap, targetType: kubernetes-cluster, required: false, imports: [{name: flag, schema: {}}]}]", nil, map[string]string{"map": "north=a", "flag": "true"}},
		{"conditional imports are not checked without the import that they belong to", "[{name: level, schema: {}, required: false, imports: [{name: flag, schema: {}}, {name: never, schema: {}}]}]", nil, nil},
		{"a default makes conditional imports effective, at any depth", "[{name: a, schema: {}, required: false, default: {value: 1}, imports: [{name: cluster, targetType: kubernetes-cluster, required: false, imports: [{name: b, schema: {}, required: false, default: {value: 2}}]}]}]", nil,
			map[string]string{"a": "1", "cluster": "host", "b": "2"}},
		{"null makes conditional imports effective", "[{name: nothing, schema: {}, required: false, imports: [{name: flag, schema: {}}]}]", nil, map[string]string{"nothing": "null", "flag": "true"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			values, err := Construct(t.Context(), "inst", definitions(t, test.definitions), fleet(), Mapped{Values: test.mapped}, compileType)
			if err != nil {
				t.Error(err)
				return
			}
			got := values.Map()
			for name, want := range test.want {
				if shown := short(t, got[name]); want != "-" && shown != want {
					t.Errorf("%s is %s, want %s", name, shown, want)
				}
				if !values.Satisfied(name) {
					t.Errorf("%s is satisfied", name)
				}
			}
			if len(got) != len(test.want) {
				t.Errorf("values %v, want %v", got, test.want)
			}
		})
	}
}

// short shows a value as JSON, and Targets by their names.
func short(t *testing.T, value any) string {
	t.Helper()
	switch value := value.(type) {
	case map[string]any:
		if metadata, ok := value["metadata"].(map[string]any); ok {
			return metadata["name"].(string)
		}
		if north, ok := value["north"]; ok {
			return "north=" + short(t, north)
		}
		if len(value) == 0 {
			return ""
		}
	case []any:
		var names []string
		for _, element := range value {
			names = append(names, short(t, element))
		}
		return strings.Join(names, " ")
	}
	return asJSON(t, value)
}

func TestConstructErrors(t *testing.T) {
	tests := []struct {
		reason, definitions string
		mapped              map[string]any
		kind                Reason
		want                string
	}{
		{"required data is missing", "[{name: level, schema: {}}]", nil, ImportNotFound,
			`inst.level: blueprint defines import "level" of type data, which is not satisfied: add an entry of this name to spec.imports.data or to spec.importDataMappings`},
		{"a default of a required import is not taken", "[{name: level, schema: {}, required: true, default: {value: 1}}]", nil, ImportNotFound, `import "level" of type data, which is not satisfied`},
		{"probably a mistyped name", "[{name: sise, schema: {}}]", nil, ImportNotFound, "did you mean size?"},
		{"a required Target is missing", "[{name: edge, targetType: kubernetes-cluster}]", nil, ImportNotFound,
			`inst.edge: blueprint defines import "edge" of type target, which is not satisfied: add an entry of this name with target to spec.imports.targets`},
		{"a required list is missing", "[{name: edge, type: targetList, targetType: kubernetes-cluster}]", nil, ImportNotFound, `import "edge" of type targetList, which is not satisfied: use targets or targetListRef`},
		{"a required map is missing", "[{name: edge, type: targetMap, targetType: kubernetes-cluster}]", nil, ImportNotFound, `import "edge" of type targetMap, which is not satisfied: use targetMap or targetMapRef`},
		{"a default that cannot be read", "[{name: level, schema: {}, required: false}]", nil, InvalidDefaultValue,
			`inst.level: default value defined for import "level" of type data cannot be unmarshalled`},
		{"no schema", "[{name: flag, type: data}]", nil, SchemaValidationFailed, "inst.flag: no schema defined"},
		{"a schema that cannot be used", "[{name: flag, schema: {$ref: 'local://x'}}]", nil, SchemaValidationFailed, "inst.flag: validator creation failed: there is no local type of this name"},
		{"another value than the schema asks for", "[{name: password, schema: {type: integer}}]", nil, SchemaValidationFailed,
			"inst.password: imported datatype does not have the expected schema: type is string, not integer"},
		{"a default is checked, too", "[{name: level, schema: {type: string}, required: false, default: {value: 1}}]", nil, SchemaValidationFailed, "inst.level: imported datatype does not have the expected schema"},
		{"the result of a mapping is checked, too", "[{name: flag, schema: {type: string}}]", map[string]any{"flag": int64(1)}, SchemaValidationFailed, "inst.flag: imported datatype does not have the expected schema"},
		{"null has to satisfy the schema", "[{name: nothing, schema: {type: string}, required: false}]", nil, SchemaValidationFailed, "type is null, not string"},
		{"data that cannot be read", "[{name: broken, schema: {}}]", nil, SchemaValidationFailed, "inst.broken: the imported value cannot be read: the value is not JSON"},
		{"a result of a mapping that JSON cannot say", "[{name: flag, schema: {}}]", map[string]any{"flag": make(chan int)}, SchemaValidationFailed, "inst.flag: the result of spec.importDataMappings cannot be encoded as JSON"},
		{"a Target without a type", "[{name: untyped, targetType: kubernetes-cluster}]", nil, SchemaValidationFailed, "inst.untyped: imported target does not match the expected target template schema"},
		{"a Target that cannot be encoded", "[{name: unreadable, targetType: kubernetes-cluster}]", nil, SchemaValidationFailed, "inst.unreadable: imported target does not match the expected target template schema: Target bad cannot be encoded as JSON"},
		{"an element that cannot be encoded", "[{name: unreadables, type: targetList, targetType: kubernetes-cluster}]", nil, SchemaValidationFailed, "inst.unreadables: imported target does not match"},
		{"a Target of another type", "[{name: vm, targetType: kubernetes-cluster}]", nil, SchemaValidationFailed, "inst.vm: imported target type is acme.example/vm but expected " + clusterType},
		{"an element of a list of another type", "[{name: mixed, type: targetList, targetType: kubernetes-cluster}]", nil, SchemaValidationFailed,
			"inst.mixed: type of the element at position 1 of the imported targetlist is acme.example/vm but expected " + clusterType},
		{"an element of a list that is not a Target", "[{name: mixed, type: targetList, targetType: kubernetes-cluster}]", nil, SchemaValidationFailed, "expected target template schema: element at position 2"},
		{"an element of a map of another type", "[{name: mixedMap, type: targetMap, targetType: kubernetes-cluster}]", nil, SchemaValidationFailed,
			"inst.mixedMap: type of the element at position y of the imported targetmap is acme.example/vm but expected " + clusterType},
		{"an element of a map without a type", "[{name: mixedMap, type: targetMap, targetType: kubernetes-cluster}]", nil, SchemaValidationFailed, "expected target template schema: element at position z"},
		{"a single Target for a list", "[{name: cluster, type: targetList, targetType: kubernetes-cluster}]", nil, SchemaValidationFailed,
			"inst.cluster: targetlist import is not a list: the Installation imports a Target under this name: use targets or targetListRef"},
		{"a list for a map", "[{name: list, type: targetMap, targetType: kubernetes-cluster}]", nil, SchemaValidationFailed,
			"inst.list: targetmap import is not a map: the Installation imports a list of Targets under this name"},
		{"data for a Target", "[{name: size, targetType: kubernetes-cluster}]", nil, ImportNotFound, "which is not satisfied: the Installation imports data under this name"},
		{"a map of Targets for data", "[{name: map, schema: {}}]", nil, ImportNotFound, "which is not satisfied: the Installation imports a map of Targets under this name"},
		{"a single Target for a list that may be missing", "[{name: cluster, schema: {}, required: false, default: {value: 1}}]", nil, ImportNotFound, "the Installation imports a Target under this name"},
		{"a type that is unknown", "[{name: a, type: componentDescriptor}]", nil, SchemaValidationFailed, "inst.a: unknown import type 'componentDescriptor'"},
		{"no type that could be derived", "[{name: a}]", nil, SchemaValidationFailed, "inst.a: unknown import type ''"},
		{"a conditional import that is missing", "[{name: size, schema: {}, required: false, imports: [{name: a, schema: {}, required: false, default: {value: 1}, imports: [{name: deep, schema: {}}]}]}]", nil, ImportNotFound,
			`inst.size.a.deep: blueprint defines import "deep" of type data`},
		{"a conditional import below a Target that is missing", "[{name: cluster, targetType: kubernetes-cluster, required: false, imports: [{name: deep, schema: {}}]}]", nil, ImportNotFound, "inst.cluster.deep: "},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			list := definitions(t, test.definitions)
			if test.kind == InvalidDefaultValue {
				list[0].Default.Value = v1alpha1.NewAnyJSON([]byte(`{"` + hidden))
			}
			_, err := Construct(t.Context(), "inst", list, fleet(), Mapped{Values: test.mapped}, compileType)
			wantError(t, test.reason, err, test.want)
			var explained *Error
			if !errors.As(err, &explained) || explained.Reason != test.kind || !strings.HasPrefix(explained.Path, "inst.") {
				t.Errorf("reason %+v, want %s", explained, test.kind)
			}
		})
	}
}

func TestConstructFindsAllErrors(t *testing.T) {
	list := definitions(t, `
- {name: vm, targetType: kubernetes-cluster, required: false, imports: [{name: below, schema: {}}]}
- {name: flag, schema: {type: string}}
- {name: level, schema: {}}`)
	values, err := Construct(t.Context(), "inst", list, fleet(), Mapped{}, compileType)
	for _, want := range []string{"inst.vm: ", "inst.vm.below: ", "inst.flag: ", "inst.level: "} {
		wantError(t, "all imports are looked at, also those below a wrong one", err, want)
	}
	if len(values.Map()) != 0 {
		t.Errorf("there are no values after an error: %v", values.Map())
	}
	cause := errors.New("the registry does not answer")
	_, err = Construct(t.Context(), "inst", list[1:2], fleet(), Mapped{}, func(context.Context, v1alpha1.JSONSchemaDefinition) (Validator, error) { return nil, cause })
	if !errors.Is(err, cause) {
		t.Errorf("callers must find the cause, because it may be temporary: %v", err)
	}
}

func TestTargetValue(t *testing.T) {
	list := definitions(t, "[{name: cluster, targetType: kubernetes-cluster}]")
	imports := fleet()
	source := imports.Targets["cluster"]
	source.Labels = map[string]string{"team": "blue"}
	source.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
	source.Spec.SecretRef = &v1alpha1.LocalSecretReference{Name: "s", Key: "k"}
	values, err := Construct(t.Context(), "inst", list, imports, Mapped{}, compileType)
	if err != nil {
		t.Fatal(err)
	}
	got := values.Map()["cluster"].(map[string]any)
	metadata, spec := got["metadata"].(map[string]any), got["spec"].(map[string]any)
	if got["apiVersion"] != "landscaper.gardener.cloud/v1alpha1" || got["kind"] != "Target" || metadata["name"] != "host" || metadata["generation"] != int64(1) || metadata["labels"].(map[string]any)["team"] != "blue" {
		t.Errorf("the whole object is shown: %v", got)
	}
	if spec["type"] != clusterType || spec["config"].(map[string]any)["kubeconfig"] != hidden || spec["secretRef"].(map[string]any)["key"] != "k" {
		t.Errorf("specification %v", spec)
	}
	if _, ok := metadata["managedFields"]; ok || len(source.ManagedFields) == 0 || source.Kind != "" {
		t.Error("the records of field owners are left out of the value, but the object itself is not changed")
	}
}
