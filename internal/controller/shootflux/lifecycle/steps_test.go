package lifecycle

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/controller/shootflux/sourcesecret"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

// stepsDone are those of an attempt that has written all.
func stepsDone(but ...step) map[step]bool {
	done := map[step]bool{begin: true, collect: true, writeManifests: true, findData: true, writeData: true, configure: true, look: true}
	for _, one := range but {
		delete(done, one)
	}
	return done
}

// TestDecidePieces: what a shoot gets next, and what brings the attempt after a wait.
func TestDecidePieces(t *testing.T) {
	secret := []*unstructured.Unstructured{object("Secret", "flux-system", "access")}
	unseen := managed.Standing{Exists: true, Reason: "Pending", Message: "not yet"}
	late := noon.Add(-time.Hour)
	ready := func(*work) {}
	up := func(w *work) { w.after.Bootstrapped = true }
	fresh := func(w *work) { w.fresh = secret }
	slow := func(w *work) {
		w.data = unseen
		w.after.WaitingSince, w.after.ConfigChecksum = &late, w.config.Checksum()
	}
	rotating := func(w *work) {
		w.asked = RequestRotate
		w.credentials = &credentials{place: sourcesecret.Garden, publicKey: "ssh-ed25519 AAAA", due: &sourcesecret.Decision{NewKey: true}}
	}
	lost := func(w *work) {
		w.config.SyncMode = config.Once
		w.plan = newPlan(w.config, w.before, "", w.installed, w.configured)
	}
	with := func(done map[step]bool, more ...step) map[step]bool {
		for _, one := range more {
			done[one] = true
		}
		return done
	}
	for _, test := range []struct {
		reason string
		change func(*work)
		asleep bool
		done   map[step]bool
		want   step
		says   string
		pause  time.Duration
	}{
		{"the pieces are collected", ready, false, stepsDone(collect, writeManifests), collect, "", 0},
		{"a key that is missing is made before", func(w *work) { w.credentials = &credentials{due: &sourcesecret.Decision{}} }, false, stepsDone(collect, writeManifests), makeKey, "", 0},
		{"a rotation is recorded before anything else can go wrong", rotating, false, with(stepsDone(collect, writeManifests), makeKey), noteRotation, "", 0},
		{"so is a request to rotate what is not ours", func(w *work) { rotating(w); w.credentials.due = nil }, false, stepsDone(collect, writeManifests), noteRotation, "", 0},
		{"and then people are shown the key", rotating, false, with(stepsDone(collect, writeManifests), makeKey, noteRotation), showKey, "", 0},
		{"once", rotating, false, with(stepsDone(collect, writeManifests), makeKey, noteRotation, showKey), collect, "", 0},
		{"those who brought credentials to the project know the key", func(w *work) { w.credentials = &credentials{place: sourcesecret.Garden} }, false, stepsDone(collect, writeManifests), collect, "", 0},
		{"the manifests come first", ready, false, map[step]bool{collect: true}, writeManifests, "", 0},
		{"data needs the namespace", func(w *work) { w.installed = unseen }, false, stepsDone(findData, writeData, configure, look), await, "the manifests of Flux", lookAgain},
		{"meanwhile the token is asked for that a look needs", func(w *work) { w.installed, w.fresh = unseen, secret }, false, stepsDone(findData, writeData), askToken, "", 0},
		{"once", func(w *work) { w.installed, w.fresh = unseen, secret }, false, with(stepsDone(findData, writeData), askToken), await, "the manifests of Flux", lookAgain},
		{"the data follows", ready, false, stepsDone(findData, writeData), findData, "", 0},
		{"no Secret is new", ready, false, stepsDone(writeData), writeData, "", 0},
		{"new ones are on the way already", func(w *work) { w.fresh, w.written = secret, true }, false, stepsDone(writeData), writeData, "", 0},
		{"a new one may be in the shoot, of another owner", fresh, false, stepsDone(writeData), askRights, "", 0},
		{"the right to look is not there yet", func(w *work) { w.fresh, w.data = secret, unseen }, false, with(stepsDone(writeData), askRights), await, "waiting for the right", lookAgain},
		{"it is there", fresh, false, with(stepsDone(writeData), askRights), findOwners, "", 0},
		{"the shoot does not answer: it is asked less often", func(w *work) { w.fresh, w.unseen, w.took = secret, "no answer", 3*time.Second }, false, with(stepsDone(writeData), askRights, findOwners), await, "no answer", 30 * time.Second},
		{"the Secret is of another owner", func(w *work) { w.fresh, w.taken = secret, "access" }, false, with(stepsDone(writeData), askRights, findOwners), fail, "would replace it", 0},
		{"it does not exist", fresh, false, with(stepsDone(writeData), askRights, findOwners), writeData, "", 0},
		{"Flux reads the data", ready, false, stepsDone(configure), configure, "", 0},
		{"the first configuration needs the kinds of Flux", func(w *work) { w.installed.Healthy = false }, false, stepsDone(configure, look), await, "waiting for Flux to run", lookAgain},
		{"a look shows whether it works", ready, false, stepsDone(look), look, "", 0},
		{"it does not: the shoot is not watched", func(w *work) { w.unready = &access.Unready{Object: "Kustomization", Message: "no"} }, false, stepsDone(), await, "waiting for Flux in the shoot", lookAtShoot},
		{"what is waited for too long is stored first", slow, false, stepsDone(), remember, "", 0},
		{"and is an error then", slow, false, with(stepsDone(), remember), fail, "takes since", 0},
		{"the shoot is up, and all is kept up to date", ready, false, stepsDone(), freeze, "", 0},
		{"what belongs to the owner from now on is frozen after that is stored", lost, false, stepsDone(), record, "", 0},
		{"a seed that has lost the record", lost, false, with(stepsDone(), record), fail, errNotKept.Error(), 0},
		{"a shoot that was up before", func(w *work) { lost(w); up(w) }, false, stepsDone(), freeze, "", 0},
		{"the end", up, false, with(stepsDone(), freeze), finish, "", 0},
		{"a hibernated shoot gets everything, and is not waited for", func(w *work) { w.installed = unseen }, true, stepsDone(), finish, "", 0},
		{"nor looked into for its new Secrets", fresh, true, with(stepsDone(writeData, configure), askRights), configure, "", 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := working(test.change)
			if test.asleep {
				sleeping(w)
			}
			s := w.snapshot
			s.work, s.done, s.now = w, test.done, noon
			got := decide(s)
			says := got.pause.why
			if got.cause != nil {
				says += got.cause.Error()
			}
			pause := time.Duration(0)
			if !got.wake.Deadline().IsZero() {
				pause = got.wake.Deadline().Sub(noon)
			}
			if got.do != test.want || !strings.Contains(says, test.says) || pause != test.pause || !got.wake.Recorded() {
				t.Errorf("%s, %q, next by %s after %s; want %s after %s", got.do, says, got.wake, pause, test.want, test.pause)
			}
		})
	}
}

// TestDecideRemoval: how a shoot is left.
func TestDecideRemoval(t *testing.T) {
	begun := map[step]bool{begin: true}
	departed := map[step]bool{begin: true, depart: true}
	swept := map[step]bool{begin: true, depart: true, sweep: true}
	for _, test := range []struct {
		reason  string
		kind    gardener.OperationType
		since   time.Duration
		done    map[step]bool
		waiting removalWait
		want    step
	}{
		{"the pieces go after the operation has begun", gardener.Delete, 0, begun, removalWait{}, depart},
		{"one after the other", gardener.Delete, 0, departed, removalWait{name: ConfigName}, await},
		{"not for ever", gardener.Delete, time.Hour, departed, removalWait{name: ConfigName}, fail},
		{"a migration is not limited: the shoot is not deleted", gardener.Migrate, time.Hour, departed, removalWait{name: ConfigName}, await},
		{"then what is on the seed", gardener.Delete, 0, departed, removalWait{}, sweep},
		{"and the Extension", gardener.Delete, 0, swept, removalWait{}, release},
		{"of a migration, too", gardener.Migrate, 0, swept, removalWait{}, release},
	} {
		t.Run(test.reason, func(t *testing.T) {
			e := extension(deleted, last(test.kind, gardener.Processing))
			e.DeletionTimestamp = &metav1.Time{Time: noon.Add(-test.since)}
			got := decide(snapshot{e: e, kind: test.kind, shoot: &gardener.Shoot{}, done: test.done, waiting: test.waiting, now: noon})
			if got.do != test.want || !got.wake.Recorded() || (got.do == await) != (got.wake.Deadline().Equal(noon.Add(lookAgain))) {
				t.Errorf("%s, next by %s; want %s", got.do, got.wake, test.want)
			}
		})
	}
}

// TestWaitIsPure: a decision notes nothing. The step does, with the status.
func TestWaitIsPure(t *testing.T) {
	w := working(func(w *work) { w.installed = managed.Standing{Exists: true} })
	s := w.snapshot
	s.work, s.done, s.now = w, stepsDone(findData, writeData, configure, look), noon
	if got := decide(s); got.do != await || w.after.WaitingSince != nil || w.after != (state.State{}) {
		t.Errorf("%s, %+v", got.do, w.after)
	}
}
