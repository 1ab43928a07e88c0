package observe_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job/published"
)

// named is an Installation of a namespace, with owners.
func named(namespace, name, uid string, owners ...metav1.OwnerReference) *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uid), OwnerReferences: owners}}
	return inst
}

func names[T client.Object](list []T) string {
	var all []string
	for _, object := range list {
		all = append(all, object.GetName())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestFamily: the family of an Installation follows from UIDs. Names are used again.
func TestFamily(t *testing.T) {
	above, below := testbuilders.Owner("Installation", "top", "top"), testbuilders.Owner("Installation", "self", "self")
	former, strange := testbuilders.Owner("Installation", "self", "former"), testbuilders.Owner("Deployment", "self", "self")
	older := below
	older.APIVersion = v1alpha1.GroupName + "/v1alpha0"
	for _, test := range []struct {
		reason           string
		self             *v1alpha1.Installation
		others           objects
		parent, children string
		orphaned         bool
	}{
		{"a root alone", named("n", "self", "uid-self"), nil, "", "", false},
		{"a parent and children", named("n", "self", "uid-self", above), objects{named("n", "top", "uid-top"), named("n", "a", "1", below), named("n", "b", "2", below)}, "top", "a b", false},
		{"the parent does not exist any more", named("n", "self", "uid-self", above), nil, "", "", true},
		{"the parent does not exist any more, and another one has its name", named("n", "self", "uid-self", above), objects{named("n", "top", "uid-new")}, "", "", true},
		{"a parent is in the same namespace", named("n", "self", "uid-self", above), objects{named("m", "top", "uid-top")}, "", "", true},
		{"an owner of another system is not a parent", named("n", "self", "uid-self", testbuilders.Owner("Deployment", "top", "top")), objects{named("n", "top", "uid-top")}, "", "", false},
		{"children of an earlier Installation of the name are not its own", named("n", "self", "uid-self"), objects{named("n", "a", "1", former), named("n", "b", "2", below)}, "", "b", false},
		{"an Installation whose owner of another kind has the UID is not a child", named("n", "self", "uid-self"), objects{named("n", "a", "1", strange)}, "", "", false},
		{"an owner by an older version of the kinds counts", named("n", "self", "uid-self"), objects{named("n", "a", "1", older)}, "", "a", false},
		{"children of the name in another namespace", named("n", "self", "uid-self"), objects{named("m", "a", "1", below)}, "", "", false},
		{"grandchildren belong to another parent", named("n", "self", "uid-self"), objects{named("n", "a", "1", below), named("n", "b", "2", testbuilders.Owner("Installation", "a", "1"))}, "", "a", false},
		{"an Installation that is its own parent, as any user may write", named("n", "self", "uid-self", below), objects{named("n", "self", "uid-self", below)}, "self", "self", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, test.others, nil)
			f := &siblings.Family{Inst: test.self}
			if err := w.Family(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			parent := ""
			if f.Parent != nil {
				parent = f.Parent.Name
			}
			if parent != test.parent || f.Orphaned != test.orphaned || names(f.Subs) != test.children {
				t.Errorf("below %q (orphaned: %t), above %q", parent, f.Orphaned, names(f.Subs))
			}
			if len(w.server.Calls) > 0 {
				t.Errorf("all Installations come by one watch, but the API server was asked %v", w.server.Calls)
			}
		})
	}
}

// TestFamilyUnread: an Installation that could not be read does not count as deleted.
func TestFamilyUnread(t *testing.T) {
	for _, test := range []struct {
		reason, want string
		at           int
	}{
		{"the parent cannot be read", "read Installation n/top", 0},
		{"the children cannot be listed", "list the subinstallations of Installation n/self", 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := same(t, named("n", "top", "uid-top"))
			w.cache.At, w.cache.Err = test.at, errors.New("the cache is not there")
			f := &siblings.Family{Inst: named("n", "self", "uid-self", testbuilders.Owner("Installation", "top", "top"))}
			err := w.Family(t.Context(), f)
			if !errors.Is(err, w.cache.Err) || !strings.Contains(err.Error(), test.want) || f.Orphaned {
				t.Errorf("orphaned %t: %v", f.Orphaned, err)
			}
		})
	}
}

// TestSiblings: subinstallations of one parent, with the Installation as the attempt knows it.
// Roots are siblings of all roots of their namespace.
func TestSiblings(t *testing.T) {
	top, former := testbuilders.Owner("Installation", "top", "top"), testbuilders.Owner("Installation", "top", "former")
	known := objects{
		named("n", "a", "1", top), named("n", "b", "2", top), named("n", "late", "3", former), named("m", "c", "4", top),
		named("n", "root", "5"), named("n", "other", "6", testbuilders.Owner("Deployment", "top", "top")), named("m", "elsewhere", "7"),
	}
	for _, test := range []struct {
		reason string
		self   *v1alpha1.Installation
		want   string
	}{
		{"a subinstallation and its sibling", named("n", "a", "1", top), "a b"},
		{"a subinstallation that the parent's predecessor has left", named("n", "late", "3", former), "late"},
		{"roots, with those of other owners", named("n", "root", "5"), "other root"},
		{"an Installation that the cache does not have yet is not a sibling", named("n", "new", "8", top), "a b"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			siblings, err := newWorld(t, known, nil).Siblings(t.Context(), test.self)
			if err != nil || names(siblings) != test.want {
				t.Fatalf("%q, %v", names(siblings), err)
			}
			for _, sibling := range siblings {
				if sibling.Name == test.self.Name && sibling != test.self {
					t.Error("the siblings have an older version of the Installation itself")
				}
			}
		})
	}
}

// TestContext: the Context that an Installation names; a missing one is not a read error.
func TestContext(t *testing.T) {
	landscape := func(name string) *v1alpha1.Context {
		return &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}}
	}
	for _, test := range []struct {
		reason, spec string
		cached, live objects
		want         string
	}{
		{"the Installation names no Context", "{}", objects{landscape("default"), landscape("mine")}, nil, "default"},
		{"the Installation names a Context", "context: mine", objects{landscape("default"), landscape("mine")}, nil, "mine"},
		{"the Context was created together with the Installation", "context: mine", nil, objects{landscape("mine")}, "mine"},
		{"a missing Context is not replaced by the default one", "context: mine", objects{landscape("default")}, objects{landscape("default")}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			found, err := newWorld(t, test.cached, test.live).Context(t.Context(), testbuilders.InstallationOf(t, test.spec))
			if err != nil || (found != nil) != (test.want != "") || found != nil && found.Name != test.want {
				t.Errorf("%v, %v", found, err)
			}
		})
	}
	t.Run("a Context that cannot be read does not count as missing", func(t *testing.T) {
		w := same(t)
		w.server.At, w.server.Err = 0, errors.New("busy")
		_, err := w.Context(t.Context(), testbuilders.InstallationOf(t, "context: mine"))
		wantOperation(t, err, published.InitPrerequisites, "CalculateContext")
		if !strings.Contains(err.Error(), "Context mine") || !errors.Is(err, w.server.Err) {
			t.Errorf("%v", err)
		}
	})
}

// TestCopies: what lives in the scope of an Installation, of both kinds.
func TestCopies(t *testing.T) {
	target := testbuilders.CopyOf("target", "job-2")
	other := testbuilders.CopyOf("other-target", "job-2")
	other.Labels[v1alpha1.DataObjectContextLabel] = "Inst.shop-2"
	w := newWorld(t, objects{target, other, scoped("data", "Inst.shop", "job-1", "1"), scoped("other-data", "Inst.shop-2", "job-2", "1"), testbuilders.DataOf("free", "1")}, nil)
	copies, err := w.Copies(t.Context(), testbuilders.InstallationOf(t, "{}"))
	if err != nil || names(copies.DataObjects) != "data" || names(copies.Targets) != "target" {
		t.Errorf("%s, %s, %v", names(copies.DataObjects), names(copies.Targets), err)
	}
	for at, reason := range []string{"DataObjects cannot be listed", "Targets cannot be listed"} {
		t.Run(reason, func(t *testing.T) {
			w := same(t, target)
			w.cache.At, w.cache.Err = at, errors.New("busy")
			copies, err := w.Copies(t.Context(), testbuilders.InstallationOf(t, "{}"))
			var unread *repocontext.ReadError
			if !errors.As(err, &unread) || !strings.Contains(err.Error(), "Installation shop") || len(copies.Targets)+len(copies.DataObjects) > 0 {
				t.Errorf("half of the copies are not the copies: %+v, %v", copies, err)
			}
		})
	}
}
