package expectations

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

var at = client.ObjectKey{Namespace: "shoot--lab", Name: "one"}

// version is an object as it was at a time, nil for none.
func version(text string) *corev1.ConfigMap {
	if text == "" {
		return nil
	}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: at.Namespace, Name: at.Name, ResourceVersion: text}, Data: map[string]string{"of-" + text: ""}}
}

func showing(object *corev1.ConfigMap) client.Reader {
	builder := fake.NewClientBuilder()
	if object != nil {
		builder = builder.WithObjects(object)
	}
	return builder.Build()
}

// decoding decodes as a client does: into what is there already.
type decoding struct{ client.Reader }

func (d decoding) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	found := &corev1.ConfigMap{}
	if err := d.Reader.Get(ctx, key, found, options...); err != nil {
		return err
	}
	raw, err := json.Marshal(found)
	return errors.Join(err, json.Unmarshal(raw, object))
}

func TestGet(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                string
		wrote               []string
		cached, there, want string
		kept                int
		reason              string
	}{
		{"not ours", nil, "7", "9", "7", 0, "without a write, the cache counts"},
		{"nothing there", nil, "", "9", "", 0, "the watch reports a creation by another writer"},
		{"shown", []string{"7"}, "7", "9", "7", 0, "no request is made for what the cache has"},
		{"newer", []string{"7"}, "8", "9", "8", 0, "another writer came later"},
		{"made again", []string{"7"}, "20", "20", "20", 0, "a successor is younger than all of its predecessor"},
		{"behind", []string{"10"}, "9", "10", "10", 1, "versions are numbers, and what was written is not in the cache"},
		{"the last counts", []string{"10", "8"}, "9", "10", "10", 1, "two controllers write, and the slower one may record later"},
		{"not shown yet", []string{"7"}, "", "7", "7", 1, "it was created just now"},
		{"deleted meanwhile", []string{"7"}, "", "", "", 0, "a deleted object need not be remembered"},
		{"the store was restored from a backup", []string{"10"}, "9", "9", "9", 0, "the API server has the last word, and is not asked again"},
		{"the store was restored, and the cache shows nothing", []string{"10"}, "", "9", "9", 0, "the API server has the last word, and is not asked again"},
		{"deleted, but not in the cache", []string{"7"}, "6", "", "", 0, "the cache shows a deleted object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := &Reader{Cache: showing(version(test.cached)), API: decoding{showing(version(test.there))}}
			for _, wrote := range test.wrote {
				r.Record(version(wrote))
			}
			seen := &corev1.ConfigMap{}
			err := r.Get(t.Context(), at, seen)
			if client.IgnoreNotFound(err) != nil || (err != nil) != (test.want == "") {
				t.Fatal(err)
			}
			if _, is := seen.Data["of-"+test.want]; test.want != "" && (!is || len(seen.Data) != 1) {
				t.Errorf("saw version %s with %v, want %s: %s", seen.ResourceVersion, seen.Data, test.want, test.reason)
			}
			if len(r.written) != test.kept {
				t.Errorf("remembers %v, want %d: %s", r.written, test.kept, test.reason)
			}
		})
	}
}

// TestGetAfterDoubt: after a write that had no answer, the API server says once what is there, and a cache
// that shows less is behind from then on.
func TestGetAfterDoubt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		reason              string
		cached, there, want string
		fails               bool
		kept, doubts        int
	}{
		{"the write has arrived", "7", "8", "8", false, 1, 0},
		{"the write has not arrived", "7", "7", "7", false, 1, 0},
		{"the object was deleted meanwhile", "7", "", "", false, 0, 0},
		{"the API server does not answer: it is asked again", "7", "8", "", true, 0, 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			api := decoding{showing(version(test.there))}
			if test.fails {
				api = decoding{silent{}}
			}
			r := &Reader{Cache: showing(version(test.cached)), API: api}
			r.Doubt(version("7"))
			seen := &corev1.ConfigMap{}
			if err := r.Get(t.Context(), at, seen); (err != nil) != (test.want == "") {
				t.Fatal(err)
			}
			if _, is := seen.Data["of-"+test.want]; test.want != "" && !is {
				t.Errorf("saw version %s, want %s", seen.ResourceVersion, test.want)
			}
			if len(r.written) != test.kept || len(r.doubts) != test.doubts {
				t.Errorf("remembers %v and doubts %v, want %d and %d", r.written, r.doubts, test.kept, test.doubts)
			}
		})
	}
}

// silent is an API server that does not answer.
type silent struct{ client.Reader }

func (silent) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("connection reset by peer")
}

// TestGetSuccessor: a cache that still shows the object which had the name before is behind.
func TestGetSuccessor(t *testing.T) {
	t.Parallel()
	former, written := version("7"), version("9")
	former.UID, written.UID = "former", "written"
	r := &Reader{Cache: showing(former), API: decoding{showing(written)}}
	r.Record(written)
	seen := &corev1.ConfigMap{}
	if err := r.Get(t.Context(), at, seen); err != nil || seen.UID != "written" {
		t.Errorf("saw %s, %v", seen.UID, err)
	}
	r.Forget(at)
	if err := r.Get(t.Context(), at, seen); err != nil || seen.UID != "former" || len(r.written) > 0 {
		t.Errorf("then saw %s, %v, and remembers %v", seen.UID, err, r.written)
	}
}

// TestAsk shows that a cache which shows nothing, or a deleted object, is not believed.
func TestAsk(t *testing.T) {
	t.Parallel()
	seen := &corev1.ConfigMap{}
	if err := (&Reader{Cache: showing(nil), API: showing(version("7"))}).GetLive(t.Context(), at, seen); err != nil || seen.ResourceVersion != "7" {
		t.Error(err, seen)
	}
	if err := (&Reader{Cache: showing(version("7")), API: showing(nil)}).GetLive(t.Context(), at, seen); err == nil || client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}

// TestAskDuringWrite: an answer that the object does not exist may be older than the creation
// of the object.
func TestAskDuringWrite(t *testing.T) {
	t.Parallel()
	r := &Reader{Cache: showing(nil)}
	r.API = meanwhile{showing(nil), func() { r.Record(version("9")) }}
	r.Record(version("7"))
	if err := r.GetLive(t.Context(), at, &corev1.ConfigMap{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Fatal(err)
	}
	if !r.IsStale(version("8")) {
		t.Error("what was written while the API server was asked is forgotten")
	}
}

// meanwhile lets something happen between a question and its answer.
type meanwhile struct {
	client.Reader
	happens func()
}

func (m meanwhile) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := m.Reader.Get(ctx, key, object, options...)
	m.happens()
	return err
}

func TestBehind(t *testing.T) {
	t.Parallel()
	r := &Reader{}
	for _, step := range []struct {
		wrote, seen string
		want        bool
		reason      string
	}{
		{"", "7", false, "nothing was written"},
		{"9", "7", true, "the cached version is from before the write"},
		{"", "8", true, "another writer was faster, and the cached version is still from before the write"},
		{"", "9", false, "the cached version is the written one"},
		{"", "7", false, "a cache never goes back: a version that it has shown need not be remembered"},
		{"11", "12", false, "another writer came later"},
	} {
		if step.wrote != "" {
			r.Record(version(step.wrote))
		}
		if got := r.IsStale(version(step.seen)); got != step.want {
			t.Errorf("%s is behind: %t: %s", step.seen, got, step.reason)
		}
	}
}

// TestNoAnswer: an error of the cache is no reason to ask elsewhere.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	r := &Reader{Cache: noAnswer{}, API: showing(version("7"))}
	r.Record(version("7"))
	if err := r.Get(t.Context(), at, &corev1.ConfigMap{}); !errors.Is(err, errNoAnswer) {
		t.Error(err)
	}
}

var errNoAnswer = errors.New("no answer")

type noAnswer struct{ client.Reader }

func (noAnswer) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errNoAnswer
}
