package installation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/landscape/desired"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// maxSalt bounds the search for a free name.
const maxSalt = 20

// child is a child of an Installation, and whether the job needs nothing more of it.
type child struct {
	client.Object
	kind string
	done bool
}

// children returns the subinstallations and the Execution.
func (s *snapshot) children() []child {
	children := make([]child, 0, len(s.Subs)+1)
	round, goes := job.Round(s.Inst), s.Inst.Status.InstallationPhase.IsDeletion()
	for _, sub := range s.Subs {
		part := job.PartOfSub(sub, s.Inst)
		children = append(children, child{sub, "Installation", part.Finished == round || !goes && (part.Held || part.Done(round))})
	}
	if s.Exec != nil {
		part := job.PartOfExecution(s.Exec)
		children = append(children, child{s.Exec, "Execution", part.Finished == round || !goes && part.Done(round)})
	}
	return children
}

// shows reports whether a child of a name was observed.
func (s *snapshot) shows(name string) bool {
	return slices.ContainsFunc(s.children(), func(c child) bool { return c.GetName() == name })
}

// markDeleted notes that all children are being deleted. The subinstallations that were
// read are shared.
func (s *snapshot) markDeleted(now metav1.Time) {
	for i, sub := range s.Subs {
		s.Subs[i] = marked(sub, now)
	}
	if s.Exec != nil && s.Exec.DeletionTimestamp == nil {
		s.Exec.DeletionTimestamp = &now
	}
}

func marked(sub *v1alpha1.Installation, now metav1.Time) *v1alpha1.Installation {
	if predicates.BeingDeleted(sub) {
		return sub
	}
	own := *sub
	own.DeletionTimestamp = &now
	return &own
}

// matched returns the subinstallations by the names of their templates, and those that
// no template wants. Of several with the name of one template, which another release may have
// left, only one is wanted: each of them would take the job of the parent.
func matched(inst *v1alpha1.Installation, subs []*v1alpha1.Installation, planned []plan.Subinstallation) (live map[string]*v1alpha1.Installation, orphans []*v1alpha1.Installation, err error) {
	recorded := map[string]string{}
	if cache := inst.Status.SubInstCache; cache != nil {
		for _, pair := range cache.ActiveSubs {
			recorded[pair.SpecName] = pair.ObjectName
		}
	}
	subs = slices.SortedFunc(slices.Values(subs), func(a, b *v1alpha1.Installation) int {
		name := a.Annotations[v1alpha1.SubinstallationNameAnnotation]
		return cmp.Or(strings.Compare(name, b.Annotations[v1alpha1.SubinstallationNameAnnotation]), job.CompareDuplicates(a, b, recorded[name]))
	})
	named := make(map[string]bool, len(planned))
	for _, sub := range planned {
		named[sub.Name] = true
	}
	live = map[string]*v1alpha1.Installation{}
	for _, sub := range subs {
		name, ok := sub.Annotations[v1alpha1.SubinstallationNameAnnotation]
		switch {
		case !ok:
			return nil, nil, job.AsTerminal(fmt.Errorf("dangling installation found: Installation %s belongs to this one, but has no annotation %s: set it to the name in the blueprint, or delete the Installation", sub.Name, v1alpha1.SubinstallationNameAnnotation))
		case named[name] && live[name] == nil:
			live[name] = sub
		default:
			orphans = append(orphans, sub)
		}
	}
	return live, orphans, nil
}

// ensureSubs writes the subinstallations, and returns those that are no longer wanted.
// They get the job when all children are written.
func (r *Reconciler) ensureSubs(ctx context.Context, s *snapshot, planned []plan.Subinstallation) (cache *v1alpha1.SubInstCache, orphans []*v1alpha1.Installation, err error) {
	live, orphans, err := matched(s.Inst, s.Subs, planned)
	if err != nil {
		return nil, nil, err
	}
	cache = &v1alpha1.SubInstCache{}
	subs := make([]*v1alpha1.Installation, len(planned))
	err = parallelize.Until(r.Parallelizer, len(planned), func(i int) (err error) {
		if subs[i], err = r.ensureSub(ctx, s.Inst, planned[i].Installation, live[planned[i].Name]); err != nil {
			return fmt.Errorf("write subinstallation %s: %w", planned[i].Name, err)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for i, sub := range subs {
		pair := v1alpha1.SubNamePair{SpecName: planned[i].Name, ObjectName: sub.Name}
		if s.governed {
			pair.Written = new(deliveryplan.WrittenOf(sub))
		}
		cache.ActiveSubs = append(cache.ActiveSubs, pair)
	}
	for _, orphan := range orphans {
		cache.OrphanedSubs = append(cache.OrphanedSubs, orphan.Name)
	}
	s.Subs = append(subs, orphans...)
	return cache, orphans, nil
}

// duplicates says which subinstallations are deleted although a template wants their name.
func duplicates(orphans []*v1alpha1.Installation, cache *v1alpha1.SubInstCache) []string {
	var said []string
	for _, orphan := range orphans {
		name := orphan.Annotations[v1alpha1.SubinstallationNameAnnotation]
		at := slices.IndexFunc(cache.ActiveSubs, func(pair v1alpha1.SubNamePair) bool { return pair.SpecName == name })
		if at >= 0 && !predicates.BeingDeleted(orphan) {
			said = append(said, fmt.Sprintf("Installation %s has the name of subinstallation %q as well, for which Installation %s counts: Installation %s is deleted", orphan.Name, name, cache.ActiveSubs[at].ObjectName, orphan.Name))
		}
	}
	return said
}

// dropSubs deletes subinstallations that are no longer wanted. It comes when everything else is
// written: as soon as one of them is being deleted, the job only waits for that.
func (r *Reconciler) dropSubs(ctx context.Context, s *snapshot, orphans []*v1alpha1.Installation) error {
	if len(orphans) > 0 {
		if err := r.saveOwn(ctx, s); err != nil {
			return err
		}
	}
	return r.deleteSubs(ctx, s, orphans)
}

// deleteSubs deletes subinstallations.
func (r *Reconciler) deleteSubs(ctx context.Context, s *snapshot, orphans []*v1alpha1.Installation) error {
	for _, orphan := range r.importersFirst(orphans, s.Subs) {
		if err := r.deleteChild(ctx, orphan); err != nil {
			return fmt.Errorf("delete subinstallation %s: %w", orphan.Name, err)
		}
		s.Subs[slices.Index(s.Subs, orphan)] = marked(orphan, metav1.NewTime(r.Now()))
	}
	return nil
}

// importersFirst orders subinstallations that are to be deleted: when a cache shows that one is
// being deleted, it shows the same of its importers, which have to be deleted first.
func (r *Reconciler) importersFirst(orphans, all []*v1alpha1.Installation) []*v1alpha1.Installation {
	if len(orphans) < 2 {
		return orphans
	}
	return siblings.ImportersFirst(orphans, r.memory.relations.Get(orphans[0], all))
}

// ensureSub writes a subinstallation, unless it exists as wanted.
func (r *Reconciler) ensureSub(ctx context.Context, parent, planned, live *v1alpha1.Installation) (*v1alpha1.Installation, error) {
	if live == nil {
		return r.createSub(ctx, parent, planned)
	}
	sub, change, err := desired.Subinstallation(parent, planned, live, 0)
	if err != nil || change == desired.None {
		return live, err // the caller says what is written
	}
	if err := r.Client.Update(ctx, sub); err != nil {
		return nil, refused(err)
	}
	r.memory.Of(sub.UID).Written.Record(sub)
	return sub, nil
}

// createSub creates a subinstallation. Its name follows from the parent and the
// template, so that a repeated attempt meets that of the first one.
func (r *Reconciler) createSub(ctx context.Context, parent, planned *v1alpha1.Installation) (*v1alpha1.Installation, error) {
	for salt := range maxSalt {
		sub, _, err := desired.Subinstallation(parent, planned, nil, salt)
		if err != nil {
			return nil, err // the caller says what is written
		}
		err = r.Client.Create(ctx, sub)
		if err == nil {
			r.memory.Of(sub.UID).Written.Record(sub)
			r.memory.Of(parent.UID).created.Expect(sub.Name, r.Now())
			return sub, nil
		}
		if !apierrors.IsAlreadyExists(err) {
			return nil, refused(err)
		}
		live := &v1alpha1.Installation{}
		if err := r.Reader.Get(ctx, client.ObjectKeyFromObject(sub), live); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("read Installation %s: %w", sub.Name, err)
		}
		if predicates.AsOwner(parent).Owns(live) && live.Annotations[v1alpha1.SubinstallationNameAnnotation] == planned.Annotations[v1alpha1.SubinstallationNameAnnotation] {
			// It may have been created from an older template.
			return r.ensureSub(ctx, parent, planned, live)
		}
	}
	return nil, job.AsTerminal(errors.New("all names for it are taken by other Installations"))
}

// refused marks errors that another attempt would only repeat.
func refused(err error) error {
	if job.IsRefusal(err) {
		return job.AsTerminal(err)
	}
	return err
}

// merged returns a map with one more entry.
func merged(base map[string]string, key, value string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, base)
	all[key] = value
	return all
}
