package dataflow

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

func TestSecretAndConfigMapValues(t *testing.T) {
	bytes := func(entries map[string]string) map[string][]byte {
		all := map[string][]byte{}
		for key, text := range entries {
			all[key] = []byte(text)
		}
		return all
	}
	tests := []struct {
		reason    string
		data, bin map[string]string
		key       string
		want      string
		wantError string
	}{
		{"a single key", map[string]string{"a": "text", "b": "other"}, nil, "a", `"text"`, ""},
		{"a key that holds YAML", map[string]string{"a": "host: x\nports: [1, 2]\n"}, nil, "a", `{"host":"x","ports":[1,2]}`, ""},
		{"digits stay as they are", map[string]string{"a": "123456789012345678901234567890\n"}, nil, "a", `123456789012345678901234567890`, ""},
		{"integers of 64 bits stay as they are in YAML, too", map[string]string{"a": "id: 9007199254740993\nmax: 18446744073709551615"}, nil, "a", `{"id":9007199254740993,"max":18446744073709551615}`, ""},
		{"a text with digits stays a text", map[string]string{"a": `"007"`}, nil, "a", `"007"`, ""},
		{"all keys", map[string]string{"a": "text", "b": "5", "c": "true"}, nil, "", `{"a":"text","b":5,"c":true}`, ""},
		{"nothing in a key is null", map[string]string{"a": ""}, nil, "a", `null`, ""},
		{"no keys at all", nil, nil, "", `{}`, ""},
		{"a key that is missing", map[string]string{"b": hidden, "a": hidden}, nil, "c", "", `key "c" is missing (keys: a, b)`},
		{"a key that is missing in an empty object", nil, nil, "c", "", `key "c" is missing (keys: nothing)`},
		{"a content that is not YAML", map[string]string{"a": "{" + hidden + ": ["}, nil, "a", "", `the content of key "a" is not YAML`},
		{"an entry of many that is not YAML", map[string]string{"a": "fine", "b": "\t" + hidden + ": ["}, nil, "", "", `the content of key "b" is not YAML`},
		{"binary data do not replace the texts", map[string]string{"a": "text"}, map[string]string{"b": "5"}, "", `{"a":"text","b":5}`, ""},
		{"a text is found although there are binary data", map[string]string{"a": "text"}, map[string]string{"b": "5"}, "a", `"text"`, ""},
		{"binary data by key", map[string]string{"a": "text"}, map[string]string{"b": "5"}, "b", `5`, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := FromConfigMap(test.data, bytes(test.bin), test.key)
			wantError(t, test.reason, err, test.wantError)
			if err == nil && asJSON(t, got.Value) != test.want {
				t.Errorf("%s, want %s", asJSON(t, got.Value), test.want)
			}
			if test.bin != nil {
				return
			}
			got, err = FromSecret(bytes(test.data), test.key)
			wantError(t, test.reason, err, test.wantError)
			if err == nil && asJSON(t, got.Value) != test.want {
				t.Errorf("of a Secret: %s: %s, want %s", test.reason, asJSON(t, got.Value), test.want)
			}
		})
	}
}

func TestFromDataObject(t *testing.T) {
	object := decode[v1alpha1.DataObject](t, "{metadata: {name: a}, data: {b: 1}}")
	if got, err := FromDataObject(&object, nil); err != nil || got.Salt != "" || asJSON(t, got.Value) != `{"b":1}` {
		t.Errorf("value %s", asJSON(t, got.Value))
	}
}

func TestElements(t *testing.T) {
	labelled := func(name, label, value string) *v1alpha1.Target {
		made := target(name, "{}")
		made.Labels = map[string]string{label: value}
		return made
	}
	at := func(name, index string) *v1alpha1.Target { return labelled(name, v1alpha1.DataObjectIndexLabel, index) }
	var names []string
	for _, element := range OrderList([]*v1alpha1.Target{target("by-hand", "{}"), at("b", "10"), at("c", "2"), at("a", "nonsense"), at("d", "0")}) {
		names = append(names, element.Name)
	}
	if got := strings.Join(names, " "); got != "d c b a by-hand" {
		t.Errorf("elements are ordered by number, not as texts, and others come last: %s", got)
	}
	keyed := func(name, key string) *v1alpha1.Target {
		return labelled(name, v1alpha1.DataObjectTargetMapKeyLabel, key)
	}
	byKey, err := KeyMap([]*v1alpha1.Target{keyed("a", "north"), keyed("b", "south")})
	if err != nil || len(byKey) != 2 || byKey["south"].Name != "b" {
		t.Errorf("map %v, %v", byKey, err)
	}
	_, err = KeyMap([]*v1alpha1.Target{target("a", "{}")})
	wantError(t, "an element without a key", err, "label data.landscaper.gardener.cloud/targetmapkey of Target a is missing")
	_, err = KeyMap([]*v1alpha1.Target{keyed("a", "north"), keyed("b", "north")})
	wantError(t, "two elements with one key", err, `key "north" of the map belongs to Target a and to Target b`)
}
