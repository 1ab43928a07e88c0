package targetsync_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/garden"
)

// itemOf returns what the status says about a shoot or Secret.
func itemOf(sync *v1alpha1.TargetSync, name string) v1alpha1.TargetSyncItem {
	for _, item := range sync.Status.Items {
		if item.Name == name {
			return item
		}
	}
	return v1alpha1.TargetSyncItem{}
}

// disturbed lets the garden answer lists of this namespace otherwise for a test.
func (s *space) disturbed(t *testing.T, answer func(http.ResponseWriter, *http.Request)) {
	list := "/namespaces/" + s.name + "/shoots"
	shoots.Disturb(func(out http.ResponseWriter, request *http.Request) bool {
		if !strings.HasSuffix(request.URL.Path, list) || request.Method != http.MethodGet {
			return false
		}
		answer(out, request)
		return true
	})
	t.Cleanup(func() { shoots.Disturb(nil) })
}

// TestNothingIsRemovedWithoutAList: whatever a source answers, healthy Targets stay.
func TestNothingIsRemovedWithoutAList(t *testing.T) {
	s := newSpace(t, mayUseShoots...)
	for i := range 7 {
		s.shoot(fmt.Sprintf("shoot-%d", i))
	}
	s.sync(v1alpha1.TargetSyncSpec{ShootNameExpression: "*"})
	s.awaitReady("Synchronized")
	list := func(items string) string {
		return `{"apiVersion":"core.gardener.cloud/v1beta1","kind":"ShootList","metadata":{"resourceVersion":"9"` + items
	}
	say := func(body string) func(http.ResponseWriter, *http.Request) {
		return func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(out, body)
		}
	}
	for _, test := range []struct {
		reason, want string
		answer       func(http.ResponseWriter, *http.Request)
	}{
		{"the garden forbids the list", "SourceNotListed", func(out http.ResponseWriter, _ *http.Request) {
			garden.Refuse(out, http.StatusForbidden, metav1.StatusReasonForbidden, "no")
		}},
		{"the garden fails", "SourceNotListed", func(out http.ResponseWriter, _ *http.Request) {
			garden.Refuse(out, http.StatusInternalServerError, metav1.StatusReasonInternalError, "no")
		}},
		{"the garden knows no shoots", "SourceNotListed", func(out http.ResponseWriter, _ *http.Request) {
			garden.Refuse(out, http.StatusNotFound, metav1.StatusReasonNotFound, "no")
		}},
		{"the list breaks off", "SourceNotListed", say(list(`},"items":[`))},
		{"the list says that more items remain", "SourceNotListed", say(list(`,"remainingItemCount":5},"items":[]}`))},
		{"the second page fails", "SourceNotListed", func(out http.ResponseWriter, request *http.Request) {
			if request.URL.Query().Get("continue") != "" {
				garden.Refuse(out, http.StatusGone, metav1.StatusReasonExpired, "too old")
				return
			}
			say(list(`,"continue":"next"},"items":[]}`))(out, request)
		}},
		{"the garden lists another kind", "SourceNotListed", say(`{"apiVersion":"v1","kind":"SecretList","metadata":{"resourceVersion":"9"},"items":[]}`)},
		{"the garden lists another namespace", "SourceNotListed", say(list(`},"items":[{"apiVersion":"core.gardener.cloud/v1beta1","kind":"Shoot","metadata":{"name":"a","namespace":"other","uid":"u"}}]}`))},
		{"the garden lists nothing at all, which may be true", "RemovalHeld", say(list(`},"items":[]}`))},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s.disturbed(t, test.answer)
			sync := s.again()
			if ready(sync).Reason != test.want || len(sync.Status.LastErrors) == 0 {
				t.Errorf("ready %+v, errors %v", ready(sync), sync.Status.LastErrors)
			}
			targets := &v1alpha1.TargetList{}
			if err := here.List(t.Context(), targets, client.InNamespace(s.name)); err != nil || len(targets.Items) != 7 {
				t.Errorf("%d Targets are left (%v)", len(targets.Items), err)
			}
		})
	}
	t.Run("the garden lists all shoots again", func(t *testing.T) {
		if sync := s.again(); ready(sync).Reason != "Synchronized" || len(sync.Status.LastErrors) != 0 {
			t.Errorf("%+v", sync.Status)
		}
	})
	t.Run("the garden lists nothing, also at the second look", func(t *testing.T) {
		s.disturbed(t, say(list(`},"items":[]}`)))
		s.again()
		clock.forward(2 * time.Minute)
		s.again()
		if s.target("shoot-0") != nil || s.secret("shoot-6") != nil {
			t.Error("the Targets are left")
		}
	})
}

// TestShootsThatWait: a shoot without credentials for now is no error, and does not block other
// shoots.
func TestShootsThatWait(t *testing.T) {
	s := newSpace(t, mayUseShoots...)
	unready := set("Processing", "status", "lastOperation", "state")
	s.shoot("good")
	s.shoot("no-address", set([]any{}, "status", "advertisedAddresses"))
	shoots.Forget(s.shoot("young", unready))
	shoots.Forget(s.shoot("asleep", set(true, "spec", "hibernation", "enabled")))
	shoots.Forget(s.shoot("broken"))
	leaving := s.shoot("leaving", func(object *unstructured.Unstructured) { object.SetFinalizers([]string{"gardener"}) })
	s.sync(v1alpha1.TargetSyncSpec{ShootNameExpression: "*"})
	sync := s.awaitReady("ItemsFailed")
	for name, want := range map[string]v1alpha1.TargetSyncItemState{"good": "", "no-address": "Skipped", "young": "Skipped", "asleep": "Skipped", "broken": "Failed", "leaving": ""} {
		if got := itemOf(sync, name); got.State != want {
			t.Errorf("%s: %+v, want %s", name, got, want)
		}
	}
	if sync.Status.SyncedTargets != 2 || sync.Status.SkippedTargets != 3 || sync.Status.FailedTargets != 1 {
		t.Errorf("%+v", sync.Status)
	}
	if text := strings.Join(sync.Status.LastErrors, "\n"); !strings.Contains(text, "targetsync for shoot failed to get admin kubeconfig; target: broken, error: ") || !strings.Contains(text, "InternalError (500)") || !strings.Contains(text, "its InternalSecret ca-client does not exist") {
		t.Error(text)
	}
	t.Run("while it is deleted, its Target stays and is not renewed", func(t *testing.T) {
		if err := shoots.Delete(t.Context(), leaving); err != nil {
			t.Fatal(err)
		}
		clock.forward(13 * time.Hour)
		sync := s.again()
		if s.target("leaving") == nil || !strings.Contains(itemOf(sync, "leaving").Message, "being deleted") {
			t.Errorf("%+v", sync.Status.Items)
		}
		stored := shoots.NewShoot(s.name, "leaving", resource)
		if err := there.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
			t.Fatal(err)
		}
		stored.SetFinalizers(nil)
		update(t, there, stored)
		// The failure of another shoot does not block the removal.
		s.again()
		if s.target("leaving") != nil || s.secret("leaving") != nil || s.target("good") == nil {
			t.Error("the Target of a deleted shoot is left, or another Target was deleted")
		}
	})
	t.Run("a later shoot with the same name gets credentials of its own", func(t *testing.T) {
		before := len(s.grants())
		if err := shoots.Delete(t.Context(), shoots.NewShoot(s.name, "good", resource)); err != nil {
			t.Fatal(err)
		}
		again := s.shoot("good")
		s.again()
		if s.secret("good").Annotations[v1alpha1.ShootUIDAnnotation] != string(again.GetUID()) || len(s.grants()) == before {
			t.Errorf("annotations %v", s.secret("good").Annotations)
		}
	})
	t.Run("a garden that grants less: its credentials are renewed after half of that", func(t *testing.T) {
		shoots.Limit(2 * time.Hour)
		t.Cleanup(func() { shoots.Limit(24 * time.Hour) })
		s.shoot("short")
		s.again()
		first := s.secret("short")
		clock.forward(61 * time.Minute)
		s.again()
		if renewed := s.secret("short"); renewed.ResourceVersion == first.ResourceVersion || whoIs(t, renewed) == "" {
			t.Errorf("annotations %v", renewed.Annotations)
		}
	})
}

// TestCollisions: nothing is overwritten that belongs to others, whatever a source names
// its objects.
func TestCollisions(t *testing.T) {
	s := newSpace(t, mayReadSecrets("list"))
	good := kubeconfig(t, source, "good", "word-of-good")
	for _, name := range []string{"good", "mine", "access", "taken"} {
		s.put(name, good)
	}
	mine := &corev1.Secret{ObjectMeta: s.meta("mine"), Data: map[string][]byte{"password": []byte("x")}}
	create(t, here, mine)
	taken := &v1alpha1.Target{ObjectMeta: s.meta("taken"), Spec: v1alpha1.TargetSpec{Type: "other", Configuration: v1alpha1.NewAnyJSONPointer([]byte(`{}`))}}
	create(t, here, taken)
	access := s.secret("access")
	s.sync(v1alpha1.TargetSyncSpec{SecretNameExpression: "*"})
	sync := s.awaitReady("ItemsFailed")
	for _, name := range []string{"mine", "access", "taken"} {
		if got := itemOf(sync, name); got.State != v1alpha1.TargetSyncItemFailed {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if s.secret("mine").ResourceVersion != mine.ResourceVersion || s.secret("access").ResourceVersion != access.ResourceVersion || s.target("taken").ResourceVersion != taken.ResourceVersion || s.secret("taken") != nil {
		t.Error("something is overwritten")
	}
	if s.target("good") == nil {
		t.Error("a collision is in the way of another Target")
	}
	t.Run("an object that is labeled by hand is adopted", func(t *testing.T) {
		mine.Labels = map[string]string{v1alpha1.TargetSyncLabel: "ok", "team": "blue"}
		update(t, here, mine)
		await(t, here, &corev1.SecretList{}, s.name, "mine", "is adopted", func(secret *corev1.Secret) bool { return string(secret.Data["kubeconfig"]) == string(good) })
		if adopted := s.secret("mine"); adopted.Labels["team"] != "blue" || adopted.Data["password"] != nil {
			t.Errorf("%+v", adopted)
		}
	})
	t.Run("objects of others stay after the deletion", func(t *testing.T) {
		remove(t, here, s.await("is there", func(*v1alpha1.TargetSync) bool { return true }))
		s.awaitTarget("good", false)
		if s.target("taken") == nil || s.secret("access") == nil {
			t.Error("too much is removed")
		}
	})
}

// TestHostileSecrets: a source cannot make a Target that runs programs, reads files,
// gets tokens of the resource cluster, or has a type of its choice.
func TestHostileSecrets(t *testing.T) {
	s := newSpace(t, mayReadSecrets("list"))
	reached := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a source was followed elsewhere") }))
	t.Cleanup(reached.Close)
	user := func(fields string) string {
		return `{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],` +
			`"clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1"}}],"users":[{"name":"u","user":{` + fields + `}}]}`
	}
	hostile := map[string]string{
		"exec":      user(`"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"touch"}`),
		"file":      user(`"tokenFile":"/var/run/secrets/kubernetes.io/serviceaccount/token"`),
		"proxy":     strings.Replace(user(`"token":"x"`), `"server"`, `"proxy-url":"`+reached.URL+`","server"`, 1),
		"self":      strings.Replace(user(`"token":"x"`), `"kind"`, `"selfConfig":{"serviceAccount":{"name":"default"}},"kind"`, 1),
		"self-only": `{"selfConfig":{"serviceAccount":{"name":"default"}}}`,
		"oidc":      `{"oidcConfig":{"server":"https://127.0.0.1:1","serviceAccount":{"name":"default"},"audience":["x"]}}`,
		"reference": `{"kubeconfig":{"secretRef":{"name":"access","key":"kubeconfig"}}}`,
		"garbage":   "canary-of-garbage: [",
	}
	for name, content := range hostile {
		s.put(name, []byte(content))
	}
	create(t, there, &corev1.Secret{ObjectMeta: s.meta("no-key"), Data: map[string][]byte{"other": []byte("canary-of-other")}})
	create(t, there, &corev1.Secret{ObjectMeta: s.meta("typed"), Type: "landscaper.gardener.cloud/plan", Data: map[string][]byte{"kubeconfig": []byte(user(`"token":"canary-of-typed"`))}})
	s.sync(v1alpha1.TargetSyncSpec{SecretNameExpression: "*"})
	sync := s.awaitReady("ItemsFailed")
	for name := range hostile {
		if got := itemOf(sync, name); got.State != v1alpha1.TargetSyncItemFailed || s.target(name) != nil || s.secret(name) != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if itemOf(sync, "no-key").State != v1alpha1.TargetSyncItemFailed || s.secret("no-key") != nil {
		t.Error("a Secret without kubeconfig is copied")
	}
	if typed := s.secret("typed"); typed == nil || typed.Type != corev1.SecretTypeOpaque {
		t.Errorf("the source has chosen a type: %+v", typed)
	}
	checkSilent(t, s, "canary-of")
}

// checkSilent looks for words in what everybody may read.
func checkSilent(t *testing.T, s *space, words ...string) {
	t.Helper()
	syncs, events, targets := &v1alpha1.TargetSyncList{}, &eventsv1.EventList{}, &v1alpha1.TargetList{}
	for _, list := range []client.ObjectList{syncs, events, targets} {
		if err := here.List(t.Context(), list, client.InNamespace(s.name)); err != nil {
			t.Fatal(err)
		}
		text, err := yaml.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if strings.Contains(string(text), word) {
				t.Errorf("%T has %q", list, word)
			}
		}
	}
}

// TestHostileAccess: the access to a source is as harmless as that of a Target.
func TestHostileAccess(t *testing.T) {
	for _, test := range []struct {
		reason, want string
		change       func(*corev1.Secret)
	}{
		{"a kubeconfig that runs a program", "exec, which is not allowed", func(secret *corev1.Secret) {
			secret.Data["kubeconfig"] = []byte(strings.Replace(string(secret.Data["kubeconfig"]), `"token":`, `"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"touch"},"token":`, 1))
		}},
		{"an empty kubeconfig", "no kubeconfig in secret", func(secret *corev1.Secret) { secret.Data["kubeconfig"] = nil }},
		{"a source that does not answer", "connection refused", func(secret *corev1.Secret) {
			secret.Data["kubeconfig"] = []byte(strings.Replace(string(secret.Data["kubeconfig"]), source.Server, "https://127.0.0.1:1", 1))
		}},
		{"a token that is not accepted", "it does not accept the credentials (401)", func(secret *corev1.Secret) {
			secret.Data["kubeconfig"] = kubeconfig(t, source, robot, "canary-of-token")
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := newSpace(t, mayReadSecrets("list"))
			s.put("good", kubeconfig(t, source, "good", "word"))
			s.sync(v1alpha1.TargetSyncSpec{SecretNameExpression: "*"})
			s.awaitReady("Synchronized")
			access := s.secret("access")
			right := access.DeepCopy().Data
			test.change(access)
			update(t, here, access)
			sync := s.await("tells what is wrong", func(sync *v1alpha1.TargetSync) bool { return strings.Contains(ready(sync).Message, test.want) })
			if reachable := condition(sync, v1alpha1.TargetSyncSourceReachable); reachable.Status != v1alpha1.ConditionFalse || s.target("good") == nil {
				t.Errorf("%+v", reachable)
			}
			checkSilent(t, s, "canary-of")
			access.Data = right
			update(t, here, access)
			s.awaitReady("Synchronized")
		})
	}
}

// TestSeveral: with a second TargetSync in the namespace, everything stays as it is.
func TestSeveral(t *testing.T) {
	s := newSpace(t, mayReadSecrets("list", "watch"))
	s.put("one", kubeconfig(t, source, "one", "word"))
	s.sync(v1alpha1.TargetSyncSpec{SecretNameExpression: "*"})
	s.awaitReady("Synchronized")
	second := &v1alpha1.TargetSync{ObjectMeta: s.meta("second"), Spec: v1alpha1.TargetSyncSpec{SourceNamespace: s.name, SecretRef: v1alpha1.LocalSecretReference{Name: "access", Key: "kubeconfig"}}}
	create(t, here, second)
	sync := s.awaitReady("SeveralTargetSyncs")
	if text := strings.Join(sync.Status.LastErrors, ""); text != "more than one TargetSync object in the same namespace is not allowed" {
		t.Error(text)
	}
	await(t, here, &v1alpha1.TargetSyncList{}, s.name, "second", "tells it, too", func(sync *v1alpha1.TargetSync) bool { return ready(sync).Reason == "SeveralTargetSyncs" })
	s.put("two", kubeconfig(t, source, "two", "word"))
	s.again()
	if s.target("one") == nil || s.target("two") != nil {
		t.Error("something has changed meanwhile")
	}
	remove(t, here, second)
	s.awaitTarget("two", true)
	s.awaitReady("Synchronized")
	if s.target("one") == nil {
		t.Error("the deletion of the other TargetSync has removed a Target")
	}
}

// TestSpecErrors: what is wrong in a specification removes nothing.
func TestSpecErrors(t *testing.T) {
	s := newSpace(t, mayReadSecrets("list", "watch"))
	s.put("one", kubeconfig(t, source, "one", "word"))
	s.sync(v1alpha1.TargetSyncSpec{SecretNameExpression: "one"})
	s.awaitReady("Synchronized")
	for _, test := range []struct {
		reason, want string
		change       func(*v1alpha1.TargetSyncSpec)
	}{
		{"both expressions", "a targetsync object with both, secretNameExpression and shootNameExpression, is not allowed", func(spec *v1alpha1.TargetSyncSpec) { spec.ShootNameExpression = "*" }},
		{"no regular expression", "invalid regular expression to filter names: ", func(spec *v1alpha1.TargetSyncSpec) {
			spec.ShootNameExpression, spec.SecretNameExpression = "", "*-prod"
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s.change(test.change)
			sync := s.await("tells it", func(sync *v1alpha1.TargetSync) bool { return strings.Contains(ready(sync).Message, test.want) })
			if s.target("one") == nil || sync.Status.ObservedGeneration != sync.Generation {
				t.Errorf("%+v", sync.Status)
			}
		})
	}
	t.Run("no expression: the user wants none", func(t *testing.T) {
		s.change(func(spec *v1alpha1.TargetSyncSpec) { spec.ShootNameExpression, spec.SecretNameExpression = "", "" })
		s.awaitTarget("one", false)
	})
}
