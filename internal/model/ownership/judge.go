package ownership

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/placement"
)

// Family are the other DeployItems that may want what an item does not want any more.
type Family interface {
	// Others are the items on the same cluster that stay, as far as is known without a request.
	Others(ctx context.Context) ([]*v1alpha1.DeployItem, error)
	// Stays reports whether an item that was found to want an object is not terminating.
	Stays(ctx context.Context, other *v1alpha1.DeployItem) (bool, error)
	// MayKeep reports whether the item may decide again at the end of the job about the objects
	// that it has kept.
	MayKeep(ctx context.Context) (bool, error)
	// MayMove reports whether another item may want an object although that is not known yet.
	MayMove(ctx context.Context) (bool, error)
}

// Claims say which other items want the objects of an item. The family is asked once, with the
// first object. They may be used concurrently.
type Claims struct {
	family      Family
	terminating bool

	mutex sync.Mutex
	asked bool
	// others are the other items, unread those of them whose configurations were not read yet, objects
	// how many objects were asked for.
	others  []*v1alpha1.DeployItem
	unread  []*v1alpha1.DeployItem
	objects int
	// claims are the items that list or expect objects of a kind and name.
	claims  map[kindAndName][]claim
	answers map[string]bool
	// cluster and wanted show what is in a Namespace or of a kind; nil if that is unknown. resources
	// are those of kinds, once they were listed.
	cluster   Cluster
	wanted    func() []Content
	resources map[schema.GroupKind][]*unstructured.Unstructured
}

// kindAndName is what names an object, but for its namespace.
type kindAndName struct{ group, kind, name string }

// claim says that an item lists an object of a namespace, or only expects it to exist.
type claim struct {
	namespace string
	item      *v1alpha1.DeployItem
	expects   bool
}

// NewClaims returns the claims of a family; nil has no members. Of an item that is deleted
// itself, leaving is set: it cannot keep anything.
func NewClaims(family Family, leaving bool) *Claims {
	return &Claims{family: family, terminating: leaving, answers: map[string]bool{}}
}

// Verdict is what becomes of an object.
type Verdict struct {
	Fate Fate
	// Heir is the item that inherits the object; nil without one.
	Heir *v1alpha1.DeployItem
	// Reason says why an object is kept beyond the end of the job: as long as something is in it.
	Reason string
}

// Judge decides about one object what Claims decide about many.
func Judge(ctx context.Context, family Family, live *unstructured.Unstructured, object corev1.ObjectReference, mine, leaving bool) (Verdict, error) {
	return NewClaims(family, leaving).Judge(ctx, live, object, mine)
}

// Judge decides what becomes of an object that an item does not want any more. Live is the object
// as it is, nil if it does not exist; mine says that it belongs to the item.
//
// An heir inherits what it has recorded, so that it removes the object if it does not want it
// later: a job that fails before its deployment may have been the only one that wanted it.
// Until then the object is kept.
func (c *Claims) Judge(ctx context.Context, live *unstructured.Unstructured, object corev1.ObjectReference, mine bool) (Verdict, error) {
	situation := Situation{Exists: live != nil, Mine: mine}
	if c.family == nil || live == nil || !mine || live.GetDeletionTimestamp() != nil {
		// An object that is being deleted cannot be kept.
		return Verdict{Fate: Decide(situation)}, nil
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	heir, err := c.weigh(ctx, object, &situation)
	if err != nil {
		return Verdict{}, err // says what was read
	}
	switch fate := Decide(situation); fate {
	case Inherit:
		return Verdict{Fate: fate, Heir: heir}, nil
	case Remove:
		return c.spareContent(ctx, live)
	default:
		return Verdict{Fate: fate}, nil
	}
}

// weigh finds out which others may want an object, and returns the heir if there is one.
func (c *Claims) weigh(ctx context.Context, object corev1.ObjectReference, situation *Situation) (heir *v1alpha1.DeployItem, err error) {
	heir, recorded, err := c.heir(ctx, object)
	if err != nil || recorded {
		situation.Heir = recorded
		return heir, err
	}
	if situation.Expected, err = c.expected(ctx, object); err != nil || c.terminating {
		return nil, err
	}
	if heir == nil && !situation.Expected {
		situation.Open, err = c.once(ctx, "move", c.family.MayMove)
		return nil, err
	}
	situation.Open, err = c.once(ctx, "keep", c.family.MayKeep)
	situation.Heir = heir != nil && !situation.Open
	return heir, err
}

// spareContent decides about an object that no item wants any more, but in which another one may have
// something. An item that is deleted itself leaves it to the other one.
func (c *Claims) spareContent(ctx context.Context, live *unstructured.Unstructured) (Verdict, error) {
	if !HasContent(live) {
		return Verdict{Fate: Remove}, nil
	}
	tenant, err := c.tenant(ctx, live)
	switch {
	case err != nil:
		return Verdict{}, err // says what was read
	case tenant == nil:
		return Verdict{Fate: Remove}, nil
	case !c.terminating:
		return Verdict{Fate: Keep, Reason: tenant.reason()}, nil
	case tenant.item != nil && LabelOf(tenant.item) == "":
		return Verdict{Fate: Leave}, nil
	}
	return Verdict{Fate: Bequeath, Heir: tenant.item, Reason: tenant.reason()}, nil
}

// Heir returns the item that takes over an object sooner or later, or nil.
func (c *Claims) Heir(ctx context.Context, object corev1.ObjectReference) (*v1alpha1.DeployItem, error) {
	if c.family == nil {
		return nil, nil
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	heir, _, err := c.heir(ctx, object)
	return heir, err
}

// Wants reports whether an item wants an object and stays.
func (c *Claims) Wants(ctx context.Context, item *v1alpha1.DeployItem, object corev1.ObjectReference) (bool, error) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if err := c.ask(ctx, object); err != nil {
		return false, err
	}
	for _, heir := range c.claiming(object, false) {
		if heir.Name == item.Name {
			return c.family.Stays(ctx, heir)
		}
	}
	return false, nil
}

// claiming returns the items that list an object, or those that expect it to exist.
func (c *Claims) claiming(object corev1.ObjectReference, expects bool) []*v1alpha1.DeployItem {
	var found []*v1alpha1.DeployItem
	for _, claim := range c.claims[kindAndName{groupOf(object.APIVersion), object.Kind, object.Name}] {
		// A namespace in the manifest of an object without one has no effect.
		if claim.expects == expects && (object.Namespace == "" || claim.namespace == object.Namespace) {
			found = append(found, claim.item)
		}
	}
	return found
}

// expected reports whether an item that stays expects an object to exist.
func (c *Claims) expected(ctx context.Context, object corev1.ObjectReference) (bool, error) {
	for _, item := range c.claiming(object, true) {
		if stays, err := c.family.Stays(ctx, item); err != nil || stays {
			return stays, err
		}
	}
	return false, nil
}

// heir returns an item that wants an object and stays, first one that has recorded it, then the
// first by name.
func (c *Claims) heir(ctx context.Context, object corev1.ObjectReference) (heir *v1alpha1.DeployItem, recorded bool, err error) {
	if err := c.ask(ctx, object); err != nil {
		return nil, false, err
	}
	heirs, records := c.claiming(object, false), map[*v1alpha1.DeployItem]bool{}
	for _, heir := range heirs {
		records[heir] = Records(heir, object) || c.terminating && isDone(heir)
	}
	slices.SortFunc(heirs, func(a, b *v1alpha1.DeployItem) int {
		if records[a] != records[b] {
			return map[bool]int{true: -1, false: 1}[records[a]]
		}
		return cmp.Compare(a.Name, b.Name)
	})
	for _, heir := range heirs {
		if stays, err := c.family.Stays(ctx, heir); err != nil || stays {
			return heir, records[heir], err
		}
	}
	return nil, false, nil
}

// fewObjects is for how many objects configurations are searched for a name before they are
// read. To read all is worth it for many objects only: there may be a thousand other items.
const fewObjects = 8

// ask finds out which items may want an object.
func (c *Claims) ask(ctx context.Context, object corev1.ObjectReference) error {
	if !c.asked {
		others, err := c.family.Others(ctx)
		if err != nil {
			return err // says what was read
		}
		c.asked, c.others, c.unread, c.claims = true, others, slices.Clone(others), map[kindAndName][]claim{}
	}
	c.objects++
	c.unread = slices.DeleteFunc(c.unread, func(other *v1alpha1.DeployItem) bool {
		if c.objects <= fewObjects && !mentions(other, object.Name) {
			return false
		}
		c.read(other)
		return true
	})
	return nil
}

// read notes what an item lists, and what it expects to exist.
func (c *Claims) read(item *v1alpha1.DeployItem) {
	for _, expects := range []bool{false, true} {
		refs := Listed(item)
		if expects {
			refs = Expected(item)
		}
		for _, ref := range refs {
			key := kindAndName{groupOf(ref.APIVersion), ref.Kind, ref.Name}
			c.claims[key] = append(c.claims[key], claim{ref.Namespace, item, expects})
		}
	}
}

// mentions reports whether a configuration or a status may have a name in it, of what is read from
// them. Where the name could be written in another way, it is assumed.
func mentions(item *v1alpha1.DeployItem, name string) bool {
	texts := []*runtime.RawExtension{item.Spec.Configuration}
	switch item.Spec.Type {
	case v1alpha1.ManifestDeployItemType:
	case v1alpha1.HelmDeployItemType:
		texts = append(texts, item.Status.ProviderStatus)
	default:
		return false
	}
	return slices.ContainsFunc(texts, func(text *runtime.RawExtension) bool {
		return text != nil && (bytes.Contains(text.Raw, []byte(name)) || bytes.Contains(text.Raw, []byte(`\u`)) || strings.ContainsAny(name, `"\/`))
	})
}

// once keeps the answer to a question that is the same for all objects.
func (c *Claims) once(ctx context.Context, name string, question func(context.Context) (bool, error)) (bool, error) {
	if answer, known := c.answers[name]; known {
		return answer, nil
	}
	answer, err := question(ctx)
	if err == nil {
		c.answers[name] = answer
	}
	return answer, err
}

// isDone reports whether the last job of an item has deployed what its configuration says. An
// object that it lists and has not recorded belonged to another owner then.
func isDone(item *v1alpha1.DeployItem) bool {
	return item.Status.ObservedGeneration == item.Generation && item.Status.JobID == item.Status.JobIDFinished && item.Status.Phase == v1alpha1.DeployItemPhases.Succeeded
}

// Records reports whether an item has recorded an object as its own.
func Records(item *v1alpha1.DeployItem, object corev1.ObjectReference) bool {
	return slices.ContainsFunc(placement.Recorded(item.Status.ProviderStatus), func(entry deployer.ManagedResourceStatus) bool {
		ref := entry.Resource
		return ref.Kind == object.Kind && ref.Namespace == object.Namespace && ref.Name == object.Name && groupOf(ref.APIVersion) == groupOf(object.APIVersion)
	})
}

func groupOf(apiVersion string) string { return schema.FromAPIVersionAndKind(apiVersion, "").Group }
