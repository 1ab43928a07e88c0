package execution

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
)

// maxSalt bounds the search for a free name.
const maxSalt = 20

// itemName returns the name that a DeployItem has in its Execution.
func itemName(item *v1alpha1.DeployItem) string {
	return item.Labels[v1alpha1.ExecutionManagedNameLabel]
}

// members connects what the Execution wants with what there is. What it does not
// want is returned apart.
func members(templates v1alpha1.DeployItemTemplateList, items []*v1alpha1.DeployItem) (wanted, orphans []member) {
	byName := make(map[string]*v1alpha1.DeployItem, len(items))
	for _, item := range items {
		// Of two items with one name, which a crash of an old release may have left,
		// the first counts.
		if _, ok := byName[itemName(item)]; !ok {
			byName[itemName(item)] = item
		}
	}
	for i := range templates {
		wanted = append(wanted, member{name: templates[i].Name, dependsOn: templates[i].DependsOn, item: byName[templates[i].Name]})
		delete(byName, templates[i].Name)
	}
	for _, item := range items {
		if byName[itemName(item)] == item {
			orphans = append(orphans, member{name: itemName(item), item: item})
		}
	}
	return wanted, orphans
}

// ensureItem creates the DeployItem of a template, or updates it if it differs.
func (r *Reconciler) ensureItem(ctx context.Context, exec *v1alpha1.Execution, template *v1alpha1.DeployItemTemplate, live *v1alpha1.DeployItem) (*v1alpha1.DeployItem, error) {
	if live == nil {
		return r.createItem(ctx, exec, template)
	}
	changed := live.DeepCopy()
	r.fill(changed, exec, template)
	if equality.Semantic.DeepEqual(live, changed) {
		return live, nil
	}
	changed.Annotations[v1alpha1.ReconcileTimeAnnotation] = r.Now().UTC().Format("2006-01-02T15:04:05Z07:00")
	if err := r.Client.Update(ctx, changed); err != nil {
		return nil, fmt.Errorf("update DeployItem %s: %w", changed.Name, err)
	}
	r.written.Record(changed)
	return changed, nil
}

// createItem creates a DeployItem. Its name follows from the Execution and the
// template, so that a repeated attempt meets the item of the first one.
func (r *Reconciler) createItem(ctx context.Context, exec *v1alpha1.Execution, template *v1alpha1.DeployItemTemplate) (*v1alpha1.DeployItem, error) {
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{
		Namespace:       exec.Namespace,
		GenerateName:    exec.Name + "-" + template.Name + "-",
		Finalizers:      []string{v1alpha1.Finalizer},
		Annotations:     map[string]string{v1alpha1.ReconcileTimeAnnotation: r.Now().UTC().Format("2006-01-02T15:04:05Z07:00")},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(exec, v1alpha1.GroupVersion.WithKind("Execution"))},
	}}
	r.fill(item, exec, template)
	for salt := range maxSalt {
		item.Name = job.ChildName(exec.UID, exec.Name+"-"+template.Name, salt)
		err := r.Client.Create(ctx, item)
		if err == nil {
			r.written.Record(item)
			r.created.Store(client.ObjectKeyFromObject(item), r.Now())
			return item, nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return nil, fmt.Errorf("create DeployItem %s: %w", template.Name, err)
		}
		live := &v1alpha1.DeployItem{}
		if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(item), live); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read DeployItem %s: %w", item.Name, err)
		}
		if owner := metav1.GetControllerOf(live); owner != nil && owner.UID == exec.UID && itemName(live) == template.Name {
			return live, nil
		}
	}
	return nil, fmt.Errorf("create DeployItem %s: %d names are taken by other objects", template.Name, maxSalt)
}

// fill writes into a DeployItem what its template says.
func (r *Reconciler) fill(item *v1alpha1.DeployItem, exec *v1alpha1.Execution, template *v1alpha1.DeployItemTemplate) {
	item.Spec = v1alpha1.DeployItemSpec{
		Type: template.Type, Target: template.Target, Context: exec.Spec.Context, Configuration: template.Configuration,
		Timeout: template.Timeout, UpdateOnChangeOnly: template.UpdateOnChangeOnly, OnDelete: template.OnDelete,
	}
	if item.Labels == nil {
		item.Labels = map[string]string{}
	}
	maps.Copy(item.Labels, template.Labels)
	item.Labels[v1alpha1.ExecutionManagedByLabel] = exec.Name
	item.Labels[v1alpha1.ExecutionManagedNameLabel] = template.Name
	if item.Annotations == nil {
		item.Annotations = map[string]string{}
	}
	target := v1alpha1.NoTargetNameValue
	if template.Target != nil {
		target = template.Target.Name
	}
	item.Annotations[v1alpha1.ExecutionDependsOnAnnotation] = strings.Join(template.DependsOn, ",")
	item.Annotations[v1alpha1.DeployerTypeAnnotation] = string(template.Type)
	item.Annotations[v1alpha1.DeployerTargetNameAnnotation] = target
	mirror(item.Annotations, exec.Annotations, v1alpha1.CacheHelmChartsAnnotation)
}

// mirror sets an annotation as it is on another object, or removes it.
func mirror(annotations, from map[string]string, key string) {
	if value, ok := from[key]; ok {
		annotations[key] = value
		return
	}
	delete(annotations, key)
}

// trigger hands the job of the Execution to an item.
func (r *Reconciler) trigger(ctx context.Context, exec *v1alpha1.Execution, item *v1alpha1.DeployItem) error {
	now := metav1.NewTime(r.Now())
	item.Status.JobID = exec.Status.JobID
	item.Status.TransitionTimes = job.Triggered(now)
	item.Status.JobIDGenerationTime = &now
	err := r.Client.Status().Update(ctx, item)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("hand the job to DeployItem %s: %w", item.Name, err)
	}
	r.written.Record(item)
	return nil
}

// endItem fails the job of an item in place of its deployer.
func (r *Reconciler) endItem(ctx context.Context, item *v1alpha1.DeployItem, jobID string, cause error) error {
	now := metav1.NewTime(r.Now())
	status := &item.Status
	status.JobID, status.JobIDFinished = jobID, jobID
	status.Phase = v1alpha1.DeployItemPhases.Failed
	if item.DeletionTimestamp != nil {
		status.Phase = v1alpha1.DeployItemPhases.DeleteFailed
	}
	status.PhaseTransitionTime = &now
	status.ObservedGeneration = item.Generation
	status.LastError = job.StatusError(cause, status.LastError, now)
	if status.TransitionTimes == nil {
		status.TransitionTimes = job.Triggered(now)
	}
	status.TransitionTimes.FinishedTime = &now
	job.Summarize(&status.Conditions, job.Summary{Phase: string(status.Phase), Generation: item.Generation, Err: cause}, now)
	if err := r.Client.Status().Update(ctx, item); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("end the job of DeployItem %s: %w", item.Name, err)
	}
	r.written.Record(item)
	return nil
}

// dependsOn returns the names that an item depends on, as noted at its creation.
func dependsOn(item *v1alpha1.DeployItem) []string {
	noted := item.Annotations[v1alpha1.ExecutionDependsOnAnnotation]
	if noted == "" {
		return nil
	}
	return strings.Split(noted, ",")
}
