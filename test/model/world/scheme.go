package world

import (
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/controller/shootflux/gardener"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// schemaKind is short for what a client says of an object.
type schemaKind = schema.GroupVersionKind

var (
	scheme = newScheme()
	mapper = testrestmapper.TestOnlyStaticRESTMapper(scheme)
)

func newScheme() *runtime.Scheme {
	made := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(made))
	utilruntime.Must(v1alpha1.AddToScheme(made))
	utilruntime.Must(gardener.AddToScheme(made))
	return made
}

// indexes are those that the controllers ask for, by their names.
var indexes = map[string]func(client.Object) []string{
	"execution": label(v1alpha1.ExecutionManagedByLabel),
	"source":    label(v1alpha1.DataObjectSourceLabel),
	"scope":     label(v1alpha1.DataObjectContextLabel),
	"parent":    func(object client.Object) []string { return []string{ParentOf(object)} },
	"waiting":   index.WaitsAs,
	"approval":  index.ApprovedFor,
}

func label(name string) func(client.Object) []string {
	return func(object client.Object) []string { return []string{object.GetLabels()[name]} }
}

// ParentOf returns the name of the Installation that another one is a part of.
func ParentOf(object client.Object) string {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Kind == "Installation" {
			return owner.Name
		}
	}
	return "-"
}

func labelsOf(object client.Object) labels.Set { return labels.Set(object.GetLabels()) }
