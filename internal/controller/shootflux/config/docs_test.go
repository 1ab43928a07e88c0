package config

import (
	"os"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	api "go.landscaper.dev/api/shootflux/v1alpha1"
)

const guide = "../../../../docs/shoot-flux.md"

func readGuide(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestExamplesOfTheGuide are accepted as they stand there, strictly.
func TestExamplesOfTheGuide(t *testing.T) {
	blocks := strings.Split(readGuide(t), "```yaml\n")[1:]
	if len(blocks) < 5 {
		t.Fatalf("the guide has %d examples", len(blocks))
	}
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		object := struct {
			Kind string            `json:"kind"`
			Data map[string]string `json:"data"`
			Spec struct {
				Extensions []struct {
					ProviderConfig any `json:"providerConfig"`
				} `json:"extensions"`
				Resources []struct {
					Name        string                 `json:"name"`
					ResourceRef corev1.ObjectReference `json:"resourceRef"`
				} `json:"resources"`
			} `json:"spec"`
		}{}
		if err := yaml.Unmarshal([]byte(text), &object); err != nil {
			t.Fatal(err)
		}
		t.Run(object.Kind, func(t *testing.T) {
			base, err := FromConfigMap(projectConfig(public))
			if err != nil {
				t.Fatal(err)
			}
			if object.Kind == "ConfigMap" {
				cm := projectConfig(object.Data)
				if base, err = FromConfigMap(cm); err != nil {
					t.Fatal(err)
				}
				if err := UnknownKeys(cm); err != nil {
					t.Error(err)
				}
			}
			surroundings := Surroundings{DefaultVersion: "v2.4.0"}
			for _, resource := range object.Spec.Resources {
				surroundings.Resources = append(surroundings.Resources, Resource{
					Name: resource.Name, APIVersion: resource.ResourceRef.APIVersion, Kind: resource.ResourceRef.Kind, Object: resource.ResourceRef.Name,
				})
			}
			for _, extension := range object.Spec.Extensions {
				if extension.ProviderConfig == nil {
					continue
				}
				raw, err := yaml.Marshal(extension.ProviderConfig)
				if err != nil {
					t.Fatal(err)
				}
				base = overExample(t, raw, base)
			}
			if _, err := base.Resolve(surroundings); err != nil {
				t.Error(err)
			}
		})
	}
}

func overExample(t *testing.T, text []byte, base *Config) *Config {
	t.Helper()
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := UnknownFields(raw); err != nil {
		t.Error(err)
	}
	if name, err := RefersTo(raw); err != nil || name == "" {
		base = nil
	}
	c, err := FromProviderConfig(raw, base)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestGuideIsComplete wants each key and each field in a table.
func TestGuideIsComplete(t *testing.T) {
	rows := map[string]bool{}
	for line := range strings.Lines(readGuide(t)) {
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		first, _, _ := strings.Cut(line[2:], " |")
		for name := range strings.SplitSeq(first, ", ") {
			rows[strings.Trim(strings.ReplaceAll(name, "[]", ""), "`")] = true
		}
	}
	for _, name := range append(leaves(reflect.TypeFor[api.FluxConfig](), ""), keys...) {
		if !rows[name] {
			t.Errorf("the guide says nothing about %s", name)
		}
	}
}
