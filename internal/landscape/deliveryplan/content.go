package deliveryplan

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/resourceversion"
)

const (
	// partSize is how much of a plan an object has. Encoded, it is a third more, and an API server takes
	// 1.5 MiB.
	partSize = 500 << 10
	// maxStored bounds a stored plan, compressed: more than that is more than a person can read.
	maxStored = 4 << 20
	// maxContent bounds it before that.
	maxContent = 64 << 20
	// MaxHeld bounds what a plan is made of: what is rendered, and objects as they are and as they would be.
	MaxHeld = 128 << 20
	// digestPart is how much of the digest is part of a name.
	digestPart = 10
	// maxName is how much of the name of an Installation is.
	maxName = 200
)

// ErrTooLarge says that a plan is larger than what is stored.
var ErrTooLarge = fmt.Errorf("its plan is larger than %d MiB, or than %d MiB compressed, or follows from more than %d MiB: a plan that is not stored whole is not approved; divide the Installation, or override the policy", maxContent>>20, maxStored>>20, MaxHeld>>20)

// ErrDamaged says that objects do not make a plan.
var ErrDamaged = errors.New("the stored plan is not complete")

// document is what is compressed.
type document struct {
	Plan    json.RawMessage `json:"plan"`
	Permits Permits         `json:"permits"`
}

// bounded refuses what is too much.
type bounded struct {
	io.Writer
	left int
}

// Write implements io.Writer.
func (b *bounded) Write(text []byte) (int, error) {
	if b.left -= len(text); b.left < 0 {
		return 0, ErrTooLarge
	}
	return b.Writer.Write(text) //nolint:wrapcheck // it is in memory
}

// Encode compresses what people see of a plan, and what is permitted.
func Encode(shown any, permits Permits) ([]byte, error) {
	var stored bytes.Buffer
	compressor := gzip.NewWriter(&bounded{&stored, maxStored})
	encoder := json.NewEncoder(&bounded{compressor, maxContent})
	err := encoder.Encode(struct {
		Plan    any     `json:"plan"`
		Permits Permits `json:"permits"`
	}{shown, permits})
	if err == nil {
		err = compressor.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("store the plan: %w", err)
	}
	return stored.Bytes(), nil
}

// Decode reads what is stored. The plan is read into shown, unless that is nil.
func Decode(content []byte, shown any) (Permits, error) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return Permits{}, ErrDamaged
	}
	var found document
	if err := json.NewDecoder(io.LimitReader(reader, maxContent)).Decode(&found); err != nil {
		return Permits{}, ErrDamaged
	}
	if shown != nil {
		if err := json.Unmarshal(found.Plan, shown); err != nil {
			return Permits{}, ErrDamaged
		}
	}
	return found.Permits, nil
}

// NameOf is the name of the first object of a plan; further parts have a number.
func NameOf(installation, digest string) string {
	short := strings.TrimPrefix(digest, "sha256:")
	name := installation
	if len(name) > maxName {
		name = strings.TrimRight(name[:maxName], "-.")
	}
	return name + "-" + short[:min(digestPart, len(short))]
}

// PartName is the name of a part of a plan.
func PartName(name string, part int) string {
	if part == 0 {
		return name
	}
	return name + "-" + strconv.Itoa(part)
}

// Newer orders plans, the newest first. The times of two may be in the same second; as a plan is never
// changed, its version says when it was created.
func Newer(a, b *deliveryv1alpha1.DeliveryPlan) int {
	switch {
	case resourceversion.Older(a.ResourceVersion, b.ResourceVersion):
		return 1
	case resourceversion.Older(b.ResourceVersion, a.ResourceVersion):
		return -1
	}
	return b.CreationTimestamp.Compare(a.CreationTimestamp.Time)
}

// Objects are the objects of a plan: the first comes last, because it stands for the whole.
func Objects(inst *v1alpha1.Installation, spec deliveryv1alpha1.DeliveryPlanSpec, content []byte) []*deliveryv1alpha1.DeliveryPlan {
	name, parts := NameOf(inst.Name, spec.Digest), slices.Collect(slices.Chunk(content, partSize))
	objects := make([]*deliveryv1alpha1.DeliveryPlan, 0, len(parts))
	for i := range parts {
		object := &deliveryv1alpha1.DeliveryPlan{ObjectMeta: metav1.ObjectMeta{
			Namespace: inst.Namespace, Name: PartName(name, i),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: inst.Name, UID: inst.UID}},
		}, Spec: spec}
		object.Spec.Part, object.Spec.Parts, object.Spec.Content = int32(i), int32(len(parts)), parts[i] //nolint:gosec // there are nine at most
		objects = append(objects, object)
	}
	slices.Reverse(objects)
	return objects
}

// Join returns the content of a plan. Get reads a part by its name.
func Join(first *deliveryv1alpha1.DeliveryPlan, get func(name string) (*deliveryv1alpha1.DeliveryPlan, error)) ([]byte, error) {
	content := slices.Clone(first.Spec.Content)
	for i := 1; i < int(first.Spec.Parts); i++ {
		part, err := get(PartName(first.Name, i))
		if err != nil {
			return nil, err // names the part
		}
		if part.Spec.Digest != first.Spec.Digest || part.Spec.Installation != first.Spec.Installation || int(part.Spec.Part) != i || len(content) > maxStored {
			return nil, ErrDamaged
		}
		content = append(content, part.Spec.Content...)
	}
	return content, nil
}
