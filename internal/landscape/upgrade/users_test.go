package upgrade

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint/compatibility"
)

const landscape = `
- metadata: {name: shop, namespace: live}
  spec:
    componentDescriptor: {ref: {componentName: example.org/shop, version: 1.0.0}}
    blueprint: {ref: {resourceName: blueprint}}
    imports: {data: [{name: size, dataRef: s}], targets: [{name: cluster, target: t}]}
    exports: {data: [{name: address, dataRef: shop-address}], targets: [{name: made, target: shop-cluster}]}
- metadata: {name: mapped, namespace: live}
  spec:
    componentDescriptor: {ref: {componentName: example.org/shop, version: 0.9.0}}
    blueprint: {ref: {resourceName: blueprint}}
    imports: {data: [{name: all, dataRef: s}]}
    importDataMappings: {size: (( all.size ))}
    exports: {data: [{name: where, dataRef: where}]}
    exportDataMappings: {where: (( address.host ))}
- metadata: {name: tool, namespace: live}
  spec:
    componentDescriptor: {ref: {componentName: example.org/shop, version: 1.0.0}}
    blueprint: {ref: {resourceName: tool}}
- metadata: {name: portal, namespace: live}
  spec:
    componentDescriptor: {ref: {componentName: example.org/portal, version: 1.0.0}}
    blueprint: {ref: {resourceName: blueprint}}
    imports: {data: [{name: shop, dataRef: shop-address}], targets: [{name: t, targets: [shop-cluster]}]}
- metadata: {name: elsewhere, namespace: test}
  spec:
    blueprint: {inline: {filesystem: {}}}
    imports: {data: [{name: shop, dataRef: shop-address}]}
`

func TestHits(t *testing.T) {
	var installations []v1alpha1.Installation
	if err := yaml.Unmarshal([]byte(landscape), &installations); err != nil {
		t.Fatal(err)
	}
	const breaking, note = compatibility.Breaking, compatibility.Note
	for _, test := range []struct {
		reason  string
		finding compatibility.Finding
		want    string
	}{
		{"those that give an import, by themselves or by a mapping", compatibility.Finding{Severity: breaking, Subject: compatibility.Import, Name: "size", Users: compatibility.Giving}, "live/mapped 0.9.0; live/shop 1.0.0"},
		{"those that do not give it", compatibility.Finding{Severity: breaking, Subject: compatibility.Import, Name: "cluster", Users: compatibility.Leaving}, "live/mapped 0.9.0; live/tool 1.0.0"},
		{"only users of that blueprint", compatibility.Finding{Severity: breaking, Resource: "blueprint", Subject: compatibility.Import, Name: "cluster", Users: compatibility.Leaving}, "live/mapped 0.9.0"},
		{"only those that give what it depends on", compatibility.Finding{Severity: breaking, Resource: "blueprint", Subject: compatibility.Import, Name: "new", Users: compatibility.All, When: []string{"cluster"}}, "live/shop 1.0.0"},
		{"all users of a blueprint that is dropped", compatibility.Finding{Severity: breaking, Resource: "tool", Subject: compatibility.Blueprint, Name: "tool", Users: compatibility.All}, "live/tool 1.0.0"},
		{"those that publish an export, with its readers; a mapping uses it, too", compatibility.Finding{Severity: breaking, Subject: compatibility.Export, Name: "address", Users: compatibility.Giving}, "live/mapped 0.9.0; live/shop 1.0.0 -> live/portal"},
		{"a Target that is exported", compatibility.Finding{Severity: breaking, Subject: compatibility.Export, Name: "made", Users: compatibility.Giving}, "live/shop 1.0.0 -> live/portal"},
		{"notes concern none", compatibility.Finding{Severity: note, Subject: compatibility.Import, Name: "size", Users: compatibility.Giving}, ""},
		{"what no user needs to know", compatibility.Finding{Severity: compatibility.Unknown, Subject: compatibility.Resource, Name: "size", Users: compatibility.None}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var all []string
			for _, hit := range Hits(installations, Used{Component: "example.org/shop"}, []compatibility.Finding{test.finding}) {
				text := fmt.Sprintf("%s/%s %s", hit.Namespace, hit.Name, hit.Version)
				if len(hit.Readers) > 0 {
					text += " -> " + strings.Join(hit.Readers, ", ")
				}
				all = append(all, text)
			}
			if got := strings.Join(all, "; "); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
