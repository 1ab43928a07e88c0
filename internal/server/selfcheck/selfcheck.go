// Package selfcheck finds out whether a Landscaper works in a namespace: an Installation that
// deploys nothing has to go all the way from its creation to its end.
package selfcheck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

// blueprint has no imports and deploys nothing.
const blueprint = `{"blueprint.yaml": "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\n"}`

// Run creates an Installation, waits until its job has succeeded, and deletes it, also after a
// failure. Nothing of it stays, unless the server does not work.
func Run(ctx context.Context, cluster client.WithWatch, namespace string, out io.Writer) error {
	inst := &v1alpha1.Installation{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, GenerateName: "landscaper-check-",
			Annotations: map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)},
		},
		Spec: v1alpha1.InstallationSpec{Blueprint: v1alpha1.BlueprintDefinition{Inline: &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON([]byte(blueprint))}}},
	}
	if err := cluster.Create(ctx, inst); err != nil {
		return fmt.Errorf("create an Installation in namespace %s: %w", namespace, err)
	}
	name := namespace + "/" + inst.Name
	fmt.Fprintf(out, "Installation %s: created\n", name)
	end, err := wait(ctx, cluster, inst, func(inst *v1alpha1.Installation) bool {
		return inst == nil || inst.Status.JobID != "" && inst.Status.JobID == inst.Status.JobIDFinished
	})
	if err == nil && (end == nil || end.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded) {
		err = fmt.Errorf("the job of Installation %s has not succeeded: %s", name, state(end))
	}
	if err == nil {
		fmt.Fprintf(out, "Installation %s: its job has succeeded\n", name)
	}
	// The time may be over.
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if deletion := cluster.Delete(cleanup, inst); client.IgnoreNotFound(deletion) != nil {
		return errors.Join(err, fmt.Errorf("delete Installation %s: %w", name, deletion))
	}
	if err != nil {
		return err
	}
	if _, err := wait(ctx, cluster, inst, func(inst *v1alpha1.Installation) bool { return inst == nil }); err != nil {
		return err
	}
	fmt.Fprintf(out, "Installation %s: deleted\n", name)
	return nil
}

// wait waits until an Installation is as done says; nil stands for one that does not exist.
func wait(ctx context.Context, cluster client.WithWatch, inst *v1alpha1.Installation, done func(*v1alpha1.Installation) bool) (*v1alpha1.Installation, error) {
	current := inst
	for {
		// The watch begins before the Installation is read, so that no change is missed.
		events, err := cluster.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(inst.Namespace), client.MatchingFields{"metadata.name": inst.Name})
		if err != nil {
			return nil, ended(ctx, inst, current, err)
		}
		current = &v1alpha1.Installation{}
		err = cluster.Get(ctx, client.ObjectKeyFromObject(inst), current)
		if apierrors.IsNotFound(err) {
			current, err = nil, nil
		}
		for open := true; open; {
			if err != nil || done(current) {
				events.Stop()
				return current, ended(ctx, inst, current, err)
			}
			var event watch.Event
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case event, open = <-events.ResultChan():
			}
			switch event.Type {
			case watch.Added, watch.Modified:
				current, _ = event.Object.(*v1alpha1.Installation)
			case watch.Deleted:
				current = nil
			case watch.Error: // such as one that has become too old
				events.Stop()
				open = false
			}
		}
	}
}

// ended says where an Installation stood when the time was over.
func ended(ctx context.Context, inst, current *v1alpha1.Installation, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("wait for Installation %s/%s: %w: %s: look at the log of the server", inst.Namespace, inst.Name, ctx.Err(), state(current))
	}
	return fmt.Errorf("read Installation %s/%s: %w", inst.Namespace, inst.Name, err)
}

// state says where an Installation stands, as "landscaper-cli installations inspect" does.
func state(inst *v1alpha1.Installation) string {
	if inst == nil {
		return "another client has deleted it"
	}
	tree := inspect.Tree(inspect.Snapshot{Installations: []*v1alpha1.Installation{inst}}, inst.Namespace, inst.Name)
	return tree.Standing() + ": " + tree.Why()
}
