package deliveryplan

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// noise is text that cannot be compressed much.
func noise(size int) string {
	random, text := rand.New(rand.NewPCG(1, 2)), make([]byte, size)
	for i := range text {
		text[i] = byte('!' + random.IntN(90))
	}
	return string(text)
}

// TestContent: a plan comes back as it was stored, in as many objects as it needs, or is refused.
func TestContent(t *testing.T) {
	for _, test := range []struct {
		reason string
		shown  string
		parts  int
	}{
		{"a small plan is one object", "small", 1},
		{"a large one has parts", noise(2 << 20), 4},
		{"one that is large and always says the same is one object", strings.Repeat("x", 60<<20), 1},
		{"one that is too large compressed", noise(6 << 20), 0},
		{"one of 100 MB", strings.Repeat("x", 100<<20), 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			content, err := Encode(test.shown, Permits{Digest: "sha256:aa"})
			if test.parts == 0 {
				if !errors.Is(err, ErrTooLarge) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", UID: "u"}}
			objects := Objects(inst, deliveryv1alpha1.DeliveryPlanSpec{Digest: "sha256:0123456789abcdef"}, content)
			byName := map[string]*deliveryv1alpha1.DeliveryPlan{}
			for _, object := range objects {
				byName[object.Name] = object
				if len(object.Spec.Content) > partSize || int(object.Spec.Parts) != test.parts {
					t.Errorf("%s has %d bytes, and is one of %d", object.Name, len(object.Spec.Content), object.Spec.Parts)
				}
			}
			if len(objects) != test.parts || objects[len(objects)-1].Name != "shop-0123456789" {
				t.Fatalf("there are %d objects", len(objects))
			}
			joined, err := Join(byName["shop-0123456789"], func(name string) (*deliveryv1alpha1.DeliveryPlan, error) { return byName[name], nil })
			if err != nil || !bytes.Equal(joined, content) {
				t.Fatalf("%v: %d bytes of %d", err, len(joined), len(content))
			}
			var shown string
			permits, err := Decode(joined, &shown)
			if err != nil || shown != test.shown || permits.Digest != "sha256:aa" {
				t.Errorf("%v, %+v", err, permits)
			}
		})
	}
}

// TestDamaged: what is not a plan is refused.
func TestDamaged(t *testing.T) {
	content, err := Encode("x", Permits{})
	if err != nil {
		t.Fatal(err)
	}
	for reason, damaged := range map[string][]byte{"nothing": nil, "not compressed": []byte("{}"), "cut": content[:len(content)/2]} {
		if _, err := Decode(damaged, nil); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	first := &deliveryv1alpha1.DeliveryPlan{Spec: deliveryv1alpha1.DeliveryPlanSpec{Digest: "sha256:aa", Parts: 2}}
	other := &deliveryv1alpha1.DeliveryPlan{Spec: deliveryv1alpha1.DeliveryPlanSpec{Digest: "sha256:bb", Parts: 2, Part: 1}}
	if _, err := Join(first, func(string) (*deliveryv1alpha1.DeliveryPlan, error) { return other, nil }); !errors.Is(err, ErrDamaged) {
		t.Errorf("a part of another plan: %v", err)
	}
}

// TestNewer: which of two plans is the newer one.
func TestNewer(t *testing.T) {
	at := func(version string, second int64) *deliveryv1alpha1.DeliveryPlan {
		return &deliveryv1alpha1.DeliveryPlan{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version, CreationTimestamp: metav1.Unix(second, 0)}}
	}
	for _, test := range []struct {
		reason string
		a, b   *deliveryv1alpha1.DeliveryPlan
		want   int
	}{
		{"in the same second, the version says it", at("9", 1), at("10", 1), 1},
		{"the other way round", at("10", 1), at("9", 1), -1},
		{"without versions, the time does", at("", 1), at("", 2), 1},
		{"the same plan", at("9", 1), at("9", 1), 0},
	} {
		if got := Newer(test.a, test.b); got != test.want {
			t.Errorf("%s: %d, want %d", test.reason, got, test.want)
		}
	}
}

// TestNames: the name of a plan is one, whatever that of the Installation is.
func TestNames(t *testing.T) {
	for _, name := range []string{"shop", "a.b", strings.Repeat("a", 253), strings.Repeat("a", 199) + "." + strings.Repeat("b", 50)} {
		found := PartName(NameOf(name, "sha256:0123456789abcdef"), 11)
		if problems := validation.IsDNS1123Subdomain(found); len(problems) > 0 || !strings.HasSuffix(found, "-0123456789-11") {
			t.Errorf("%s: %v", found, problems)
		}
	}
}
