package readiness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/deploy/target"
)

const (
	// requestAnnotation asks Flux to work on an object now. Its value says which request
	// it is; Flux repeats it in the status when it has done so, with or without success.
	requestAnnotation = "reconcile.fluxcd.io/requestedAt"
	// fluxFinalizer is that of Flux. Without it, the first thing that Flux does with an
	// object is to add it, and to answer the request without any work.
	fluxFinalizer = "finalizers.fluxcd.io"

	sourceGroup        = "source.toolkit.fluxcd.io"
	kustomizationGroup = "kustomize.toolkit.fluxcd.io"
)

// answering are the groups of Flux whose objects answer requests.
var answering = map[string]bool{sourceGroup: true, kustomizationGroup: true, "helm.toolkit.fluxcd.io": true, "image.toolkit.fluxcd.io": true}

// Requests reports whether a manifest asks Flux for something. Then the object is not
// ready before Flux has done it, whatever else is checked.
func Requests(manifest *unstructured.Unstructured) bool {
	suspended, _, _ := unstructured.NestedBool(manifest.Object, "spec", "suspend")
	return manifest.GetAnnotations()[requestAnnotation] != "" && !suspended && answering[manifest.GroupVersionKind().Group]
}

// IsRequested reports whether the request of a manifest is on the cluster.
func IsRequested(manifest, live *unstructured.Unstructured) bool {
	request := manifest.GetAnnotations()[requestAnnotation]
	return request != "" && live != nil && live.GetAnnotations()[requestAnnotation] == request
}

// Changing says who is still to change an object, of which live is what is on the cluster; empty if
// no item is. The caller is triggered when that is over.
type Changing func(ctx context.Context, object corev1.ObjectReference, live *unstructured.Unstructured) (who string, err error)

// NewAnswers returns a check that waits until Flux has done what objects ask it for.
func NewAnswers(on target.Cluster, changing Changing, wake func()) *Check {
	return &Check{
		target: on, wake: wake,
		rule:    func(*unstructured.Unstructured) Finding { return Requested },
		sources: &sources{cluster: on, changing: changing, wake: wake, watches: map[string]target.Watch{}, failures: map[types.UID]string{}},
	}
}

// answer says what Flux has made of a request. Settled says that it has done what it
// could with the source that it had.
//
// The order is that of credibility: first deletion and suspension of the object, then that Flux has
// given this generation up; otherwise it must have answered this very request, about this
// generation, before its result counts.
func answer(before, now *unstructured.Unstructured) (finding Finding, settled bool) {
	suspended, _, _ := unstructured.NestedBool(now.Object, "spec", "suspend")
	ready, stalled := condition(now, "Ready"), condition(now, "Stalled")
	switch {
	case now.GetDeletionTimestamp() != nil:
		return Finding{Why: "it is being deleted"}, false
	case suspended:
		return Finding{Why: "it was suspended, so that Flux leaves it alone"}, false
	case stalled != nil && stalled["status"] == "True" && of(stalled, now):
		return Finding{Why: oneLine(conceal(detail("Flux has given up", stalled), now)), Hopeless: true}, false
	case text(now, "status", "lastHandledReconcileAt") != now.GetAnnotations()[requestAnnotation]:
		return Finding{Why: "Flux has not answered the request yet"}, false
	case ready == nil || !of(ready, now):
		return Finding{Why: "Flux has not worked on its present generation yet"}, false
	case ready["status"] == "False":
		return Finding{Why: failedAt(ready, now)}, ready["reason"] == buildFailed
	case ready["status"] != "True":
		return Finding{Why: atWork}, false
	case number(now, now.GetGeneration(), "status", "observedGeneration") != now.GetGeneration():
		return Finding{Why: notSeen}, false
	case withoutWork(before, now):
		return Finding{Why: "Flux has answered the request before it has done anything"}, false
	}
	return Finding{}, true
}

// notSeen says that a status is about an earlier specification.
const notSeen = "Flux has not seen its present generation yet"

// atWork is what can be said while Flux works, also when it tries again after a failure, which its
// status does not report any more then.
const atWork = "Flux is at work"

// failedAt says what Flux has failed at.
func failedAt(ready map[string]any, object *unstructured.Unstructured) string {
	reason, _ := ready["reason"].(string)
	return oneLine(conceal(detail(reason, ready), object))
}

// buildFailed is the reason of a failure that another attempt with the same files would
// only repeat.
const buildFailed = "BuildFailed"

// of reports whether a condition is about the present generation of an object.
func of(condition map[string]any, object *unstructured.Unstructured) bool {
	observed, there := condition["observedGeneration"].(int64)
	return !there || observed == object.GetGeneration()
}

// withoutWork reports whether an answer may be the one that Flux gives when it adds its
// finalizer: then nothing in its history is new.
func withoutWork(before, now *unstructured.Unstructured) bool {
	for _, finalizer := range before.GetFinalizers() {
		if finalizer == fluxFinalizer {
			return false
		}
	}
	was, _, _ := unstructured.NestedSlice(before.Object, "status", "history")
	is, _, _ := unstructured.NestedSlice(now.Object, "status", "history")
	return len(was) > 0 && fmt.Sprint(was) == fmt.Sprint(is)
}

// minSecret is the length from which a part of a value is worth hiding.
const minSecret = 8

// conceal takes out of what Flux says what may be a value of an import: Flux quotes the
// patches that it cannot apply.
func conceal(message string, object *unstructured.Unstructured) string {
	var texts []string
	patches, _, _ := unstructured.NestedSlice(object.Object, "spec", "patches")
	for _, entry := range patches {
		if patch, ok := entry.(map[string]any); ok {
			patchText, _ := patch["patch"].(string)
			texts = append(texts, patchText)
		}
	}
	substitutes, _, _ := unstructured.NestedStringMap(object.Object, "spec", "postBuild", "substitute")
	for _, value := range substitutes {
		texts = append(texts, value)
	}
	var words []string
	for _, value := range texts {
		words = append(words, strings.FieldsFunc(value, func(char rune) bool { return strings.ContainsRune(" \t\n\"'\\{}[],", char) })...)
	}
	// The longest first: a word that is part of another one would leave the rest of it.
	slices.SortFunc(words, func(a, b string) int { return len(b) - len(a) })
	for _, word := range words {
		if len(word) >= minSecret {
			message = strings.ReplaceAll(message, word, "…")
		}
	}
	return message
}

// sources are the sources of Kustomizations. What Flux has applied counts only if it is
// what the source has now: the controller of Kustomizations may have seen it late.
type sources struct {
	cluster  target.Cluster
	changing Changing
	wake     func()
	watches  map[string]target.Watch
	// failures are those that Flux has reported, by the object.
	failures map[types.UID]string
}

// recall adds the last failure to what can be said while Flux tries again.
func (s *sources) recall(finding Finding, now *unstructured.Unstructured) Finding {
	if ready := condition(now, "Ready"); ready != nil && finding.Why == failedAt(ready, now) {
		s.failures[now.GetUID()] = finding.Why
	}
	if last := s.failures[now.GetUID()]; finding.Why == atWork && last != "" {
		finding.Why += " again, after " + last
	}
	return finding
}

// judge says what Flux has made of a request, with regard to the source.
func (s *sources) judge(ctx context.Context, before, now *unstructured.Unstructured) (Finding, error) {
	finding, settled := answer(before, now)
	finding = s.recall(finding, now)
	if !settled || now.GroupVersionKind().Group != kustomizationGroup {
		return finding, nil
	}
	from := sourceOf(now)
	mapping, err := s.cluster.Mapping(ctx, from.kind)
	if err != nil {
		return finding, fmt.Errorf("find kind %s of the source: %w", from.kind.Kind, err)
	}
	// A watch may be behind what the controller of Kustomizations has seen.
	live, err := s.cluster.Get(ctx, mapping, from.namespace, from.name)
	switch {
	case apierrors.IsForbidden(err):
		// Without the right to read the source, Flux is believed.
		return finding, nil
	case apierrors.IsNotFound(err):
		live = nil
	case err != nil:
		return finding, err
	}
	if finding = compare(finding, now, from, live); finding.Ready() || finding.Hopeless {
		// It is about what the source has now, unless another item is about to change that.
		who, err := s.changing(ctx, from.reference(), live)
		if err != nil || who == "" {
			return finding, err
		}
		finding = Finding{Why: fmt.Sprintf("its source %s is to be changed by %s", from, who)}
	}
	if err := s.follow(mapping, from, live); err != nil {
		return finding, fmt.Errorf("%s, and cannot be watched: %w", finding.Why, err)
	}
	return finding, nil
}

// follow begins to watch a source. A watch that others have begun may have reported events since
// the look, before this caller listened. An error says that only a timer can tell when to look
// again.
func (s *sources) follow(mapping *meta.RESTMapping, from source, live *unstructured.Unstructured) error {
	if watch := s.watches[from.String()]; watch != nil {
		_, err := watch.State()
		return err
	}
	watch := s.cluster.Watch(mapping, from.namespace, from.name, false, s.wake)
	s.watches[from.String()] = watch
	if state, err := watch.State(); err != nil || state.Known && versionOf(state.Object) != versionOf(live) {
		s.wake()
	}
	return nil
}

// versionOf is the version of an object, empty for nil.
func versionOf(object *unstructured.Unstructured) string {
	if object == nil {
		return ""
	}
	return object.GetResourceVersion()
}

// close ends all watches.
func (s *sources) close() {
	for key, watch := range s.watches {
		_ = watch.Close()
		delete(s.watches, key)
	}
}

// source is where a Kustomization has its files from.
type source struct {
	kind            schema.GroupVersionKind
	namespace, name string
}

// String is how people call it.
func (s source) String() string { return s.kind.Kind + " " + s.namespace + "/" + s.name }

func (s source) reference() corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: s.kind.GroupVersion().String(), Kind: s.kind.Kind, Namespace: s.namespace, Name: s.name}
}

func sourceOf(kustomization *unstructured.Unstructured) source {
	version := text(kustomization, "spec", "sourceRef", "apiVersion")
	if version == "" {
		version = sourceGroup + "/v1"
	}
	namespace := text(kustomization, "spec", "sourceRef", "namespace")
	if namespace == "" {
		namespace = kustomization.GetNamespace()
	}
	kind := schema.FromAPIVersionAndKind(version, text(kustomization, "spec", "sourceRef", "kind"))
	return source{kind: kind, namespace: namespace, name: text(kustomization, "spec", "sourceRef", "name")}
}

// compare says what an answer is worth with the source as it is.
//
// A failure with the revision that the source has now is final; one with an older revision
// may be over with the next.
func compare(finding Finding, kustomization *unstructured.Unstructured, from source, live *unstructured.Unstructured) Finding {
	revision, why := artifact(live)
	switch tried := text(kustomization, "status", "lastAttemptedRevision"); {
	case why != "":
		return Finding{Why: fmt.Sprintf("its source %s: %s", from, why)}
	case !finding.Ready():
		// Another revision may be better.
		finding.Hopeless = tried == revision
		return finding
	case text(kustomization, "status", "lastAppliedRevision") != revision:
		return Finding{Why: fmt.Sprintf("its source %s has revision %s, which Flux has not applied yet", from, revision)}
	}
	return Finding{}
}

// artifact returns the revision that a source has, or why it has none yet that counts.
func artifact(source *unstructured.Unstructured) (revision, why string) {
	if source == nil {
		return "", "it does not exist"
	}
	suspended, _, _ := unstructured.NestedBool(source.Object, "spec", "suspend")
	ready := condition(source, "Ready")
	switch seen := number(source, source.GetGeneration(), "status", "observedGeneration") == source.GetGeneration(); {
	case Requests(source):
		if finding, _ := answer(source, source); !finding.Ready() {
			return "", finding.Why
		}
	case !seen && !suspended && ready != nil && ready["status"] == "False":
		return "", failedAt(ready, source)
	case !seen && !suspended:
		// Its content is that of an earlier request.
		return "", notSeen
	}
	if revision = text(source, "status", "artifact", "revision"); revision == "" {
		return "", "Flux has not fetched it yet"
	}
	return revision, ""
}
