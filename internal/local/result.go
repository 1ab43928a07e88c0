package local

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
)

// Result is what a landscape has come to.
type Result struct {
	APIVersion    string         `json:"apiVersion"`
	Kind          string         `json:"kind"`
	Installations []Installation `json:"installations"`
	// Exports are the DataObjects of root Installations.
	Exports []Export `json:"exports"`
	// Clusters are the target clusters, with their objects.
	Clusters []ClusterResult `json:"clusters"`
}

// Installation is how an Installation has ended.
type Installation struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Phase     string `json:"phase"`
	Message   string `json:"message,omitempty"`
}

// Export is the value of an export.
type Export struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Value     any    `json:"value"`
}

// ClusterResult is what is on a target cluster.
type ClusterResult struct {
	Name    string           `json:"name"`
	Objects []map[string]any `json:"objects"`
}

// Result returns what the landscape has come to so far.
func (l *Landscape) Result() Result {
	result := Result{
		APIVersion: "local." + v1alpha1.GroupName + "/v1alpha1", Kind: "LocalResult",
		Installations: []Installation{}, Exports: []Export{}, Clusters: []ClusterResult{},
	}
	for _, object := range l.Resource.Objects() {
		switch object.GetKind() {
		case "Installation":
			phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
			message, _, _ := unstructured.NestedString(object.Object, "status", "lastError", "message")
			result.Installations = append(result.Installations, Installation{object.GetNamespace(), object.GetName(), phase, message})
		case "DataObject":
			labels := object.GetLabels()
			if labels[v1alpha1.DataObjectSourceTypeLabel] == string(v1alpha1.ExportDataObjectSourceType) && labels[v1alpha1.DataObjectContextLabel] == "" {
				result.Exports = append(result.Exports, Export{object.GetNamespace(), object.GetName(), object.Object["data"]})
			}
		}
	}
	for _, cluster := range l.Clusters() {
		result.Clusters = append(result.Clusters, ClusterResult{cluster.Name, cluster.Objects()})
	}
	return result
}

// namespaces are those that each cluster has.
var namespaces = map[string]bool{"default": true, "kube-system": true, "kube-public": true, "kube-node-lease": true}

// Objects returns copies of the objects of a cluster without what each cluster has, and without what says
// nothing to people.
func (c *Cluster) Objects() []map[string]any {
	objects := []map[string]any{}
	for _, object := range c.Server.Objects() {
		if object.GetKind() == "Namespace" && namespaces[object.GetName()] {
			continue
		}
		shown := object.DeepCopy()
		shown.SetManagedFields(nil)
		objects = append(objects, shown.Object)
	}
	return objects
}
