package targetsync

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/resourceversion"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/cluster/watch"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
	"go.landscaper.dev/internal/runtime/expectations"
)

// memory is what this process knows of a TargetSync. All of it can be read again: after a restart,
// the next run begins at once, and reads everything.
type memory struct {
	uid types.UID
	// running is the number of runs: one, or one that is being cancelled.
	running atomic.Int32
	// written is the version of this process's last write to the TargetSync itself.
	written expectations.Write

	// begun identifies the input of the last run, seen says that it met a request by annotation.
	begun        string
	sawReconcile bool
	sawRotation  bool
	// next is when the next run is due, failures how many have failed in a row.
	next     time.Time
	failures int
	// success is when a run last succeeded.
	success time.Time
	// suspects are Targets that were missing in the lists, and since when.
	suspects map[string]time.Time
	// renewed says that a run has renewed the token for a request that still exists: the outcome of
	// that run may be lost.
	renewed bool
	// access is what the Secret with the access to the source held.
	access access

	mutex sync.Mutex
	// secrets are those of this TargetSync, as they were last read or written; targets are the
	// versions of the Targets.
	secrets map[string]syncplan.Secret
	targets map[string]string
	// news are changes of such objects that watches have reported, by kind and name. Most of them
	// are writes of this process.
	news map[subject]string
	// read says that the Secrets were read since the process has started.
	read bool
	// watch reports changes in the source. A source that does not permit a watch is asked again
	// from watchAgain on.
	watch      *sourceWatch
	watchAgain time.Time
	// ended says that the TargetSync no longer exists: another watch would never be closed.
	ended bool
}

// access is what the Secret with the access to the source holds.
type access struct {
	version    string
	kubeconfig []byte
	// rotated is when the token in the Secret was renewed.
	rotated time.Time
	secret  *corev1.Secret
}

// sourceWatch watches the Secrets of a source.
type sourceWatch struct {
	connection   *cluster.Connection
	namespace    string
	subscription *watch.Subscription
	// listed are the versions of the Secrets that the last run has seen, at is the version of the
	// list.
	listed map[string]string
	at     string
}

// watchPause is how long a source that permits no watch is not asked for one.
const watchPause = time.Hour

// subject is an object that a run may have written.
type subject struct{ kind, name string }

// gone replaces the version of an object that was deleted.
const gone = "gone"

const (
	secretSubject = "Secret"
	targetSubject = "Target"
)

// memories are those of all TargetSyncs.
type memories struct {
	mutex sync.Mutex
	known map[types.NamespacedName]*memory
}

// of returns the memory of a TargetSync. The memory of another object with the same name is
// dropped.
func (m *memories) of(key types.NamespacedName, uid types.UID) *memory {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.known == nil {
		m.known = map[types.NamespacedName]*memory{}
	}
	known := m.known[key]
	if known == nil || known.uid != uid {
		known.end()
		known = &memory{uid: uid, secrets: map[string]syncplan.Secret{}, targets: map[string]string{}, news: map[subject]string{}}
		m.known[key] = known
	}
	return known
}

func (m *memories) forget(key types.NamespacedName) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.known[key].end()
	delete(m.known, key)
}

// notify records a change of an object, if the TargetSync is known.
func (m *memories) notify(key types.NamespacedName, of subject, version string) {
	m.mutex.Lock()
	known := m.known[key]
	m.mutex.Unlock()
	if known == nil {
		return
	}
	known.mutex.Lock()
	defer known.mutex.Unlock()
	known.news[of] = version
}

func (m *memory) end() {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.watch.close()
	m.watch, m.ended = nil, true
}

func (w *sourceWatch) close() {
	if w != nil {
		_ = w.subscription.Close() // it never fails
	}
}

// wroteSecret records a Secret as it is now.
func (m *memory) wroteSecret(object *corev1.Secret) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.secrets[object.Name] = syncplan.FactsOf(object)
}

// knows returns the Secrets with our label, if all of them are known in the version that a cache
// shows, and no others: then no Secret has to be read.
func (m *memory) knows(cached *metav1.PartialObjectMetadataList) (known map[string]syncplan.Secret, complete bool) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	known = map[string]syncplan.Secret{}
	for i := range cached.Items {
		found := &cached.Items[i]
		if !syncplan.Ours(found) {
			continue
		}
		facts, exists := m.secrets[found.Name]
		if !exists || facts.Version != found.ResourceVersion {
			return nil, false
		}
		known[found.Name] = facts
	}
	return known, m.read && len(known) == len(m.secrets)
}

// ownSecrets are the Secrets of this TargetSync, as they are now.
func (m *memory) ownSecrets() map[string]syncplan.Secret {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return maps.Clone(m.secrets)
}

// wroteTarget records a Target as it is now.
func (m *memory) wroteTarget(object *v1alpha1.Target) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.targets[object.Name] = object.ResourceVersion
}

// removes records that a Secret or a Target is about to be deleted, before the deletion.
func (m *memory) removes(of subject) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if of.kind == secretSubject {
		delete(m.secrets, of.name)
	} else {
		delete(m.targets, of.name)
	}
}

// disturbed reports whether another client has changed an object of this TargetSync, or the Secret
// with the access to the source.
func (m *memory) disturbed(accessName string) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	for of, version := range m.news {
		ours, made := "", false
		switch {
		case of.kind == targetSubject:
			ours, made = m.targets[of.name], m.targets[of.name] != ""
		case of.name == accessName:
			ours, made = m.access.version, true
		default:
			known, ok := m.secrets[of.name]
			ours, made = known.Version, ok
		}
		// An object that this process has not written, and that no longer exists, does not count.
		if version != ours && (made || version != gone) {
			return true
		}
		delete(m.news, of)
	}
	return false
}

// starts resets the changes before a run begins, and records the input of the run.
func (m *memory) starts(sync *v1alpha1.TargetSync) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.begun = triggerOf(sync)
	// Until a run is reported, another one is due: the outcome of a run may be lost.
	m.next = time.Time{}
	m.sawReconcile, m.sawRotation = wantsRun(sync), wantsRotation(sync)
	m.renewed = m.renewed && m.sawRotation
	clear(m.news)
}

// triggerOf identifies the input whose change triggers a run. The annotations that are removed
// after a run are not part of it.
func triggerOf(sync *v1alpha1.TargetSync) string {
	annotations := map[string]string{}
	for name, value := range sync.Annotations {
		if name != v1alpha1.OperationAnnotation && name != v1alpha1.RotateTokenAnnotation {
			annotations[name] = value
		}
	}
	encoded, err := json.Marshal([]any{sync.Generation, sync.Labels, annotations})
	if err != nil {
		panic(fmt.Sprintf("encode texts: %v", err)) // texts can always be encoded
	}
	return string(encoded)
}

func wantsRun(sync *v1alpha1.TargetSync) bool {
	return sync.Annotations[v1alpha1.OperationAnnotation] == string(v1alpha1.ReconcileOperation)
}

// wantsRotation reports whether the token is to be renewed at once.
func wantsRotation(sync *v1alpha1.TargetSync) bool {
	return rotates(sync) && metav1.HasAnnotation(sync.ObjectMeta, v1alpha1.RotateTokenAnnotation)
}

func rotates(sync *v1alpha1.TargetSync) bool {
	return sync.Spec.TokenRotation != nil && sync.Spec.TokenRotation.Enabled
}

// due reports whether a run has to begin now.
func (m *memory) due(sync *v1alpha1.TargetSync, now time.Time) bool {
	return m.begun != triggerOf(sync) || !now.Before(m.next) || wantsRun(sync) ||
		wantsRotation(sync) && !m.sawRotation || m.disturbed(sync.Spec.SecretRef.Name) || m.sourceChanged(sync, now)
}

// sourceChanged reports whether the watch of the source has changes that the last run has not seen.
func (m *memory) sourceChanged(sync *v1alpha1.TargetSync, now time.Time) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.watch == nil {
		return false
	}
	versions, at, known, err := m.watch.subscription.Versions()
	if err != nil {
		// Only the interval is left. A source that is down is watched again when it is back.
		m.watch.close()
		m.watch = nil
		if !clustererror.IsConnection(err) {
			m.watchAgain = now.Add(watchPause)
		}
		return false
	}
	selects, err := syncplan.Names(sync.Spec.SecretNameExpression)
	return known && err == nil && changedSince(m.watch.listed, m.watch.at, versions, at, selects)
}

// changedSince compares a list with what a watch knows, which may be older.
func changedSince(listed map[string]string, listedAt string, versions map[string]string, at string, selects func(string) bool) bool {
	for name, version := range versions {
		if !selects(name) || version == listed[name] {
			continue
		}
		if resourceversion.AtLeast(version, listed[name]) && (listed[name] != "" || !resourceversion.AtLeast(listedAt, version)) {
			return true
		}
	}
	for name := range listed {
		if _, there := versions[name]; !there && at != listedAt && resourceversion.AtLeast(at, listedAt) {
			return true
		}
	}
	return false
}
