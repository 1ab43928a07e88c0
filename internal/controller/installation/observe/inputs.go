package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/landscape/importreader"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/model/validation"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/ancestor"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Reader reads what an Installation depends on: from caches, and from the API server where a stale
// cache would be wrong.
type Reader struct {
	Cached, Live client.Reader
	// Relations caches what follows from siblings.
	Relations *siblings.Cache
	// Triggers are the settings of the server about what starts jobs.
	Triggers predicates.Triggers
	// Sources has the permissions to import from Secrets of other namespaces.
	Sources *repocontext.Reader
	// Await returns an error as long as a subinstallation is to wait for an object to arrive; nil waits
	// for none.
	Await func(object client.Object, key client.ObjectKey) error
}

// AfterWrites returns what reads as others do after some objects were written.
func (r Reader) AfterWrites(written map[ObjectKey]bool) *WrittenReader {
	return &WrittenReader{Cached: ConfirmingReader{Reader: r.Cached, Live: r.Live}, Live: r.Live, Written: written, Read: map[ObjectKey]client.Object{}}
}

// Inputs reads what the children are made from, as far as it is in the resource
// cluster. It judges nothing: an error means that it could not be read.
func (r Reader) Inputs(ctx context.Context, f siblings.Family, planning bool) (*decide.Inputs, error) {
	in := &decide.Inputs{Invalid: validation.Installation(f.Inst, r.Sources.Foreign)}
	if len(in.Invalid) > 0 {
		return in, nil
	}
	var err error
	if in.Turn, err = r.turnToDeploy(ctx, f); err != nil {
		return nil, err
	}
	if !in.Turn.Ready() {
		return in, nil
	}
	if in.Context, err = r.Context(ctx, f.Inst); err != nil {
		return nil, err
	}
	if err := r.readCurrent(ctx, f, in, planning); err != nil {
		return nil, err
	}
	if f.Inst.Status.DataUpdate != nil && in.ImportsErr == nil && len(in.Missing) == 0 {
		if in.Hash, err = dataflow.ImportsHash(in.Imports); err != nil {
			return nil, job.AsTerminal(job.Wrap(err, published.Init, reasons.HashImports, ""))
		}
	}
	return in, nil
}

// readCurrent reads the imports as they were when the job was requested, or later. A client that
// requests a job of a root has often written its imports a moment before, and their watches may be
// slower than that of Installations: imports are read from the API server, once. The caches report
// missing imports without a request, unless an import has no cache, or the job waits already. A
// plan that is being made has the imports of an earlier attempt, but a data update decides each
// time whether it needs a plan.
func (r Reader) readCurrent(ctx context.Context, f siblings.Family, in *decide.Inputs, planning bool) error {
	live, reader := Reading(r.Live, r.Live, f.Inst), Reading(r.Cached, r.Live, f.Inst)
	// An object that is about to be exported may be missing: that needs no confirmation.
	live.trustCache, reader.trustCache = true, true
	if f.Parent != nil && f.Inst.Status.DataUpdate == nil {
		// A data update keeps unchanged imports as an earlier job has written them.
		reader.await = r.Await
	}
	current := f.Parent == nil && (f.Inst.Status.DataUpdate != nil || !planning)
	atOnce := current && f.Inst.Status.LastError == nil && importsUncached(f.Inst)
	if atOnce {
		reader = live
	}
	if err := r.ReadImports(ctx, f, in, reader); err != nil {
		return err
	}
	if siblings.IsLacking(in.Missing, in.Exporters) {
		// The cache may be behind, and the exporter may have succeeded after it was read.
		reader.trustCache = atOnce
		if err := r.ReadImports(ctx, f, in, reader); err != nil {
			return err
		}
		r.readSyncs(ctx, f, in)
	}
	if current && !atOnce && len(in.Missing) == 0 {
		return r.ReadImports(ctx, f, in, live)
	}
	return nil
}

// readSyncs reads the TargetSyncs that may make a missing Target which no Installation is about to
// export. It is the only request of that kind, and comes with the end of the job: without the
// permission to read TargetSyncs, the error names less of the cause, and stays the same otherwise.
func (r Reader) readSyncs(ctx context.Context, f siblings.Family, in *decide.Inputs) {
	isTarget := func(missing *dataflow.MissingError) bool { return missing.Object.Kind == dataflow.KindTarget }
	if f.Parent != nil || !slices.ContainsFunc(in.Missing, isTarget) || !siblings.IsLacking(in.Missing, in.Exporters) {
		return
	}
	list := &v1alpha1.TargetSyncList{}
	if err := r.Live.List(ctx, list, client.InNamespace(f.Inst.Namespace)); err != nil {
		log.FromContext(ctx).V(1).Info("TargetSyncs are not readable, so that none is named as the cause", "cause", err.Error())
		return
	}
	for i := range list.Items {
		in.Syncs = append(in.Syncs, &list.Items[i])
	}
}

// turnToDeploy looks for siblings that have to finish first. Roots do not wait for each other, only
// for what is missing.
func (r Reader) turnToDeploy(ctx context.Context, f siblings.Family) (siblings.Turn, error) {
	if f.Parent == nil {
		return siblings.Turn{}, nil
	}
	all, err := r.Siblings(ctx, f.Inst)
	if err != nil {
		return siblings.Turn{}, job.Wrap(err, published.Init, reasons.FetchPredecessors, "")
	}
	all = siblings.Wanted(f.Inst, f.Parent, all)
	return siblings.TurnToDeploy(f.Inst, f.Parent, all, r.Relations.Get(f.Inst, all)), nil
}

// ReadImports reads the imports, and the possible exporters of those that are missing.
func (r Reader) ReadImports(ctx context.Context, f siblings.Family, in *decide.Inputs, reader ConfirmingReader) (err error) {
	in.Missing, in.ImportsErr = nil, nil
	in.Imports, err = dataflow.Read(ctx, f.Inst, importreader.From(reader))
	var unread *repocontext.ReadError
	switch missing := dataflow.MissingOf(err); {
	case errors.As(err, &unread), err != nil && ctx.Err() != nil:
		return job.Wrap(err, published.Init, reasons.ImportsSatisfied, "")
	case len(missing) > 0:
		in.Missing = missing
		if in.Exporters, err = r.Exporters(ctx, f); err != nil {
			return err
		}
	default:
		in.ImportsErr = err
	}
	return nil
}

// Context reads the Context of an Installation; nil if it does not exist.
func (r Reader) Context(ctx context.Context, inst *v1alpha1.Installation) (*v1alpha1.Context, error) {
	found := &v1alpha1.Context{}
	err := ConfirmingReader{Reader: r.Cached, Live: r.Live}.Get(ctx, client.ObjectKey{Namespace: inst.Namespace, Name: predicates.ContextOf(inst)}, found)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, job.Wrap(err, published.InitPrerequisites, reasons.CalculateContext, "read Context "+predicates.ContextOf(inst))
	}
	return found, nil
}

// Exporters returns what the siblings of an Installation export. It is asked only
// when something is missing.
func (r Reader) Exporters(ctx context.Context, f siblings.Family) ([]siblings.Exporter, error) {
	inst := f.Inst
	all, err := r.Siblings(ctx, inst)
	if err != nil {
		return nil, job.Wrap(err, published.Init, reasons.ImportsSatisfied, "look for the Installations that may export what is missing")
	}
	all = siblings.Wanted(inst, f.Parent, all)
	return siblings.ExportersAmong(inst, all, r.Relations.Get(inst, all), r.Triggers), nil
}

// HashOfImports identifies the present imports of a root; false if they are unknown, because
// something is missing, or wrong, or cannot be read.
func (r Reader) HashOfImports(ctx context.Context, inst *v1alpha1.Installation, reader client.Reader) (string, bool) {
	imports, known := r.Imports(ctx, inst, reader)
	if !known {
		return "", false
	}
	hash, err := dataflow.ImportsHash(imports)
	return hash, err == nil
}

// Imports returns the present imports of a root; false if they are unknown.
func (r Reader) Imports(ctx context.Context, inst *v1alpha1.Installation, reader client.Reader) (dataflow.Imports, bool) {
	if len(validation.Installation(inst, r.Sources.Foreign)) > 0 {
		return dataflow.Imports{}, false
	}
	imports, err := dataflow.Read(ctx, inst, importreader.From(reader))
	return imports, err == nil
}

// Children returns the Installations that name another one as their parent, also
// those of an earlier one of its name. They must not be changed.
//
// They come in the order of their names in the blueprint. A cache returns them in another
// order each time, and messages list what several of them say.
func (r Reader) Children(ctx context.Context, namespace, parent string) ([]*v1alpha1.Installation, error) {
	list := &v1alpha1.InstallationList{}
	if err := r.Cached.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{index.ByParent: parent}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the subinstallations of Installation %s/%s: %w", namespace, parent, err)
	}
	children := make([]*v1alpha1.Installation, len(list.Items))
	for i := range list.Items {
		children[i] = &list.Items[i]
	}
	slices.SortFunc(children, func(a, b *v1alpha1.Installation) int {
		return cmp.Or(strings.Compare(siblings.NameOf(a), siblings.NameOf(b)), strings.Compare(a.Name, b.Name))
	})
	return children, nil
}

// Siblings returns an Installation and its siblings, which must not be changed. The
// Installation is the one that is given, and not what a cache shows of it.
func (r Reader) Siblings(ctx context.Context, inst *v1alpha1.Installation) ([]*v1alpha1.Installation, error) {
	children, err := r.Children(ctx, inst.Namespace, index.ParentOf(inst)[0])
	if err != nil {
		return nil, err
	}
	parent, _ := job.OwnerOf(inst, "Installation")
	all := make([]*v1alpha1.Installation, 0, len(children))
	for _, child := range children {
		if of, _ := job.OwnerOf(child, "Installation"); of.UID != parent.UID {
			continue
		}
		if child.Name == inst.Name {
			child = inst
		}
		all = append(all, child)
	}
	return all, nil
}

// Family reads the parent of an Installation and its subinstallations. All Installations come by
// one watch: with a version of a parent, the cache has the children that were written before it.
func (r Reader) Family(ctx context.Context, f *siblings.Family) error {
	if reference, ok := job.OwnerOf(f.Inst, "Installation"); ok {
		var err error
		if f.Parent, err = ancestor.Parent(ctx, r.Cached, f.Inst.Namespace, reference); err != nil {
			return err // names the object
		}
		f.Orphaned = f.Parent == nil
	}
	var err error
	f.Subs, err = r.ownSubs(ctx, f.Inst)
	return err // names what could not be listed
}

// ownSubs returns the subinstallations of an Installation, which must not be changed.
func (r Reader) ownSubs(ctx context.Context, inst *v1alpha1.Installation) (subs []*v1alpha1.Installation, err error) {
	children, err := r.Children(ctx, inst.Namespace, inst.Name)
	if err != nil {
		return nil, err
	}
	for _, child := range children {
		if predicates.AsOwner(inst).Owns(child) {
			subs = append(subs, child)
		}
	}
	return subs, nil
}

// Copies returns what lives in the scope of an Installation, which must not be
// changed.
func (r Reader) Copies(ctx context.Context, inst *v1alpha1.Installation, options ...client.ListOption) (dataflow.Exports, error) {
	data, targets := &v1alpha1.DataObjectList{}, &v1alpha1.TargetList{}
	for _, list := range []client.ObjectList{data, targets} {
		scope := client.MatchingFields{index.CopiesByScope: v1alpha1.InstallationScope(inst.Name)}
		if err := r.Cached.List(ctx, list, append(options, client.InNamespace(inst.Namespace), scope, client.UnsafeDisableDeepCopy)...); err != nil {
			return dataflow.Exports{}, &repocontext.ReadError{Object: "the copies of imports of Installation " + inst.Name, Cause: err}
		}
	}
	var copies dataflow.Exports
	for i := range data.Items {
		copies.DataObjects = append(copies.DataObjects, &data.Items[i])
	}
	for i := range targets.Items {
		copies.Targets = append(copies.Targets, &targets.Items[i])
	}
	return copies, nil
}

// importsUncached reports whether an Installation imports what no cache has.
func importsUncached(inst *v1alpha1.Installation) bool {
	return slices.ContainsFunc(inst.Spec.Imports.Data, func(data v1alpha1.DataImport) bool { return data.SecretRef != nil || data.ConfigMapRef != nil })
}
