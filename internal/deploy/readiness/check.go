package readiness

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/base/resourceversion"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target"
)

// Check waits until objects are ready. It begins with the objects as the writes
// returned them and watches only those that are not ready yet.
type Check struct {
	target  target.Cluster
	rule    Rule
	wake    func()
	waiting []*waiting
	// reportsDeleted says that the caller applies objects again that do not exist any more.
	reportsDeleted bool
	// sources are what the answers to requests depend on; nil for other checks.
	sources *sources
}

// waiting is an object that was not ready when it was looked at last.
type waiting struct {
	mapping *meta.RESTMapping
	object  *unstructured.Unstructured
	// live is as it was seen last.
	live    *unstructured.Unstructured
	watch   target.Watch
	lag     target.Lag
	finding Finding
	// gone says that it does not exist any more.
	gone bool
}

// Unfinished is an object that is not ready.
type Unfinished struct {
	Kind, Namespace, Name string
	// Check is the custom check that it is about, Place where it is if that is not the
	// cluster of the item; both may be empty.
	Check, Place string
	Finding
	// object is as it was seen last, or nil.
	object *unstructured.Unstructured
	// absent says that it does not exist, selector which labels one of its kind has to have
	// where no name is asked for; group is that of the kind.
	absent   bool
	group    string
	selector *labels.Set
}

// Absent reports whether it is not ready because an object does not exist.
func (u Unfinished) Absent() bool { return u.absent }

// Misses reports whether it is not ready because an object does not exist: the one that is
// named, or any that would have the labels.
func (u Unfinished) Misses(object *unstructured.Unstructured) bool {
	kind := object.GroupVersionKind()
	if !u.absent || kind.Kind != u.Kind || kind.Group != u.group {
		return false
	}
	if u.selector != nil {
		inside := u.Namespace == "" || u.Namespace == object.GetNamespace()
		return inside && u.selector.AsSelector().Matches(labels.Set(object.GetLabels()))
	}
	return object.GetNamespace() == u.Namespace && object.GetName() == u.Name
}

// Named is the object by its name.
func (u Unfinished) Named() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: u.group, Kind: u.Kind})
	object.SetNamespace(u.Namespace)
	object.SetName(u.Name)
	return object
}

// What names the object and its cluster.
func (u Unfinished) What() string { return apply.Describe(u.Kind, u.Namespace, u.Name) + u.Place }

// Reason says what is missing, and who asks for it.
func (u Unfinished) Reason() string {
	if u.Check == "" {
		return u.Why
	}
	return fmt.Sprintf("check %q: %s", u.Check, u.Why)
}

// Names says what is waited for, and how far it has come.
func Names(unready []Unfinished) []string {
	var list []string
	for _, object := range unready {
		list = append(list, fmt.Sprintf("%s to become ready (%s)", object.What(), object.Reason()))
	}
	return list
}

func unfinished(object *unstructured.Unstructured, finding Finding) Unfinished {
	return Unfinished{
		Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(), Finding: finding,
		object: target.State(object), group: object.GroupVersionKind().Group,
	}
}

// NewCheck returns a check by a rule that calls wake when something has changed.
func NewCheck(on target.Cluster, rule Rule, wake func()) *Check {
	return &Check{target: on, rule: rule, wake: wake}
}

// ReportDeleted makes no error of an object that does not exist any more and cannot be watched:
// the caller applies it again.
func (c *Check) ReportDeleted() { c.reportsDeleted = true }

// Add adds an object as a write or a read returned it.
func (c *Check) Add(mapping *meta.RESTMapping, object *unstructured.Unstructured) {
	c.AddJudged(mapping, object, c.rule(object))
}

// AddJudged adds an object of which the rule has said before how far it has come, see target.State.
func (c *Check) AddJudged(mapping *meta.RESTMapping, object *unstructured.Unstructured, finding Finding) {
	if !finding.Ready() {
		state := target.State(object)
		c.waiting = append(c.waiting, &waiting{mapping: mapping, object: state, live: state, finding: finding})
	}
}

// Requested is the finding about an object that asks Flux for something: it takes at least one look at
// the source.
var Requested = Finding{Why: "Flux has not answered the request yet"}

// Look returns what is not ready. No request is made but for the watches, unless
// a watch does not work.
func (c *Check) Look(ctx context.Context) ([]Unfinished, error) {
	var left []*waiting
	var unready []Unfinished
	for i, w := range c.waiting {
		if err := c.look(ctx, w); err != nil {
			c.waiting = append(left, c.waiting[i:]...)
			return nil, err
		}
		if w.finding.Ready() {
			_ = w.watch.Close()
			continue
		}
		left = append(left, w)
		found := unfinished(w.live, w.finding)
		found.absent = w.gone
		unready = append(unready, found)
	}
	c.waiting = left
	if len(left) == 0 && c.sources != nil {
		c.sources.close()
	}
	return unready, nil
}

// look updates what is known of an object.
//
// A state of the watch counts only if it is as new as what the write returned; until then the last
// finding stays, and the watch triggers a look when it has caught up. A watch that stays behind for
// long is not waited for any more.
func (c *Check) look(ctx context.Context, w *waiting) error {
	if w.watch == nil {
		w.watch = c.target.Watch(w.mapping, w.object.GetNamespace(), w.object.GetName(), false, c.wake)
	}
	state, err := w.watch.State()
	if err != nil {
		return c.ask(ctx, w)
	}
	version := state.Version
	if state.Object != nil {
		version = state.Object.GetResourceVersion()
	}
	// An older state than the one that we wrote could look ready.
	behind := state.Known && !resourceversion.AtLeast(version, w.object.GetResourceVersion())
	switch due := w.lag.Due(behind, c.wake); {
	case due:
		return c.reread(ctx, w)
	case behind, !state.Known:
	case state.Object != nil:
		w.finding, err = c.judge(ctx, w, state.Object)
		return err
	default:
		w.vanish()
	}
	return nil
}

// reread asks the cluster about an object, and lets its answer count, however old it is.
func (c *Check) reread(ctx context.Context, w *waiting) error {
	object, err := c.target.Get(ctx, w.mapping, w.object.GetNamespace(), w.object.GetName())
	switch {
	case apierrors.IsNotFound(err):
		w.vanish()
		return nil
	case err != nil:
		return err
	}
	w.object = target.State(object)
	w.finding, err = c.judge(ctx, w, object)
	// The answer is not kept, as an object of a watch would be, which is counted.
	w.live = w.object
	return err
}

// judge says how far an object has come.
func (c *Check) judge(ctx context.Context, w *waiting, now *unstructured.Unstructured) (Finding, error) {
	w.live, w.gone = now, false
	if c.sources != nil {
		return c.sources.judge(ctx, w.object, now)
	}
	return c.rule(now), nil
}

// vanish notes that the object does not exist any more.
func (w *waiting) vanish() { w.finding, w.gone = vanished(w.object), true }

// vanished says what it means that an object does not exist any more.
func vanished(object *unstructured.Unstructured) Finding {
	if EndsByItself(object) {
		return Finding{}
	}
	return Finding{Why: "it does not exist any more"}
}

// EndsByItself reports whether an object may be deleted by itself: a Job once it is complete.
func EndsByItself(object *unstructured.Unstructured) bool {
	return object.GroupVersionKind().GroupKind() == job && number(object, -1, "spec", "ttlSecondsAfterFinished") >= 0
}

// ask reads an object that cannot be watched, for example because the access does
// not allow it.
//
// Where it is not ready, an error says so: the queue tries errors again after growing
// pauses, which is all that is left without a watch.
func (c *Check) ask(ctx context.Context, w *waiting) error {
	if err := c.reread(ctx, w); err != nil {
		return err
	}
	if !w.finding.Ready() && !w.finding.Hopeless && (!w.gone || !c.reportsDeleted) {
		return notWatchable{w.object, w.finding.Why}
	}
	return nil
}

// notWatchable says that an object is not ready and that only a timer can tell
// when to look again.
type notWatchable struct {
	object *unstructured.Unstructured
	why    string
}

// Error implements error.
func (n notWatchable) Error() string {
	return n.object.GetKind() + " " + n.object.GetNamespace() + "/" + n.object.GetName() + " is not ready: " + n.why
}

// Close ends all watches.
func (c *Check) Close() {
	for _, w := range c.waiting {
		if w.watch != nil {
			_ = w.watch.Close()
		}
	}
	c.waiting = nil
	if c.sources != nil {
		c.sources.close()
	}
}
