package desired

import (
	"maps"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/given"
	"go.landscaper.dev/internal/runtime/job"
)

// timeFormat is how annotations show a time.
const timeFormat = "2006-01-02T15:04:05Z07:00"

// DeployItem returns the DeployItem that an Execution wants for one of its items. Live is the one
// that is there, or nil. The name of a new one follows from the Execution and the item; with a salt
// it is another one, for the case that something else has taken the first. Cluster is the shoot
// behind its Target, "" without a shoot, and nil if it is unknown.
func DeployItem(exec *v1alpha1.Execution, template *v1alpha1.DeployItemTemplate, live *v1alpha1.DeployItem, cluster *string, salt int, now time.Time) (*v1alpha1.DeployItem, Change, error) {
	item := live.DeepCopy()
	if live == nil {
		item = &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{
			Namespace:       exec.Namespace,
			GenerateName:    exec.Name + "-" + template.Name + "-",
			Name:            job.ChildName(exec.UID, exec.Name+"-"+template.Name, salt),
			Finalizers:      []string{v1alpha1.Finalizer},
			OwnerReferences: controllerOf(exec, "Execution"),
		}}
	}
	fill(item, exec, template)
	takeCluster(item, cluster)
	if live == nil {
		item.Annotations[v1alpha1.ReconcileTimeAnnotation] = now.UTC().Format(timeFormat)
		return item, Create, nil
	}
	change, err := compared(live, item)
	// Not without another change: the time alone would make each job write each item.
	if change == Update {
		item.Annotations[v1alpha1.ReconcileTimeAnnotation] = now.UTC().Format(timeFormat)
	}
	return item, change, err
}

// fill writes into a DeployItem what its template says.
func fill(item *v1alpha1.DeployItem, exec *v1alpha1.Execution, template *v1alpha1.DeployItemTemplate) {
	template = template.DeepCopy()
	item.Spec = v1alpha1.DeployItemSpec{
		Type: template.Type, Target: template.Target, Context: exec.Spec.Context, Configuration: template.Configuration,
		Timeout: template.Timeout, UpdateOnChangeOnly: template.UpdateOnChangeOnly, OnDelete: template.OnDelete,
	}
	if item.Labels == nil {
		item.Labels = map[string]string{}
	}
	if item.Annotations == nil {
		item.Annotations = map[string]string{}
	}
	takeLabels(item, template.Labels)
	item.Labels[v1alpha1.ExecutionManagedByLabel] = exec.Name
	item.Labels[v1alpha1.ExecutionManagedNameLabel] = template.Name
	target := v1alpha1.NoTargetNameValue
	if template.Target != nil {
		target = template.Target.Name
	}
	item.Annotations[v1alpha1.ExecutionDependsOnAnnotation] = strings.Join(template.DependsOn, ",")
	item.Annotations[v1alpha1.DeployerTypeAnnotation] = string(template.Type)
	item.Annotations[v1alpha1.DeployerTargetNameAnnotation] = target
	given.Set(item.Annotations, template.Given)
	mirror(item.Annotations, exec.Annotations, v1alpha1.CacheHelmChartsAnnotation)
	inherit(item.Annotations, exec.Annotations, v1alpha1.LeaveEarlierClusterAnnotation)
}

// takeLabels gives a DeployItem the labels of its template. Labels that only an earlier template
// had are removed; an annotation lists them, so that labels of others stay.
func takeLabels(item *v1alpha1.DeployItem, labels map[string]string) {
	for name := range strings.SplitSeq(item.Annotations[v1alpha1.ExecutionTemplateLabelsAnnotation], ",") {
		delete(item.Labels, name)
	}
	maps.Copy(item.Labels, labels)
	if len(labels) == 0 {
		delete(item.Annotations, v1alpha1.ExecutionTemplateLabelsAnnotation)
		return
	}
	item.Annotations[v1alpha1.ExecutionTemplateLabelsAnnotation] = strings.Join(slices.Sorted(maps.Keys(labels)), ",")
}

// takeCluster sets the shoot that a DeployItem is deployed to. The shoot of an earlier Target is
// removed: when that shoot no longer exists, the item would be left where it is now.
func takeCluster(item *v1alpha1.DeployItem, cluster *string) {
	switch {
	case cluster == nil:
	case *cluster == "":
		delete(item.Annotations, v1alpha1.ClusterNameAnnotation)
	default:
		item.Annotations[v1alpha1.ClusterNameAnnotation] = *cluster
	}
}
