package revision

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/model/delivery"
)

const (
	// maxForgone bounds how many specifications a revision says were rolled back.
	maxForgone = 32
	// maxComponent bounds the name of a component, in bytes.
	maxComponent = 512
	// maxBase is how much of the name of an Installation is in that of a revision: the rest is the
	// generation and what tells Installations of the same name apart.
	maxBase = 200
)

// Setting is what DeliveryPolicies say about the revisions of a root.
type Setting struct {
	// Keep is how many are kept; 0 if none are.
	Keep int
	// OnFailure says that the server goes back by itself.
	OnFailure bool
}

// SettingOf returns what the policies of a namespace say about a root.
func SettingOf(policies []*deliveryv1alpha1.DeliveryPolicy, root *v1alpha1.Installation) Setting {
	var setting Setting
	for _, policy := range policies {
		history := policy.Spec.History
		if history == nil || !delivery.Read(policy).Selects(root) {
			continue
		}
		setting.Keep = max(setting.Keep, int(history.Revisions))
		setting.OnFailure = setting.OnFailure || history.Rollback == deliveryv1alpha1.RollbackOnFailure
	}
	return setting
}

// Name is that of the revision of a generation. It has a part of the UID, so that the revisions of a
// deleted Installation are not those of one with the same name.
func Name(root *v1alpha1.Installation, generation int64) string {
	sum := sha256.Sum256([]byte(root.UID))
	base := strings.TrimRight(root.Name[:min(len(root.Name), maxBase)], ".-")
	return fmt.Sprintf("%s-%d-%s", base, generation, hex.EncodeToString(sum[:4]))
}

// Labels are those of the revisions of an Installation.
func Labels(uid types.UID) map[string]string {
	return map[string]string{deliveryv1alpha1.InstallationUIDLabel: string(uid)}
}

// Of returns the revision of the present specification. The others are those that are kept.
func Of(root *v1alpha1.Installation, others []*deliveryv1alpha1.DeliveryRevision) (*deliveryv1alpha1.DeliveryRevision, error) {
	raw, err := json.Marshal(root.Spec)
	if err != nil {
		return nil, fmt.Errorf("encode the specification: %w", err)
	}
	digest, err := digestOf(raw)
	if err != nil {
		return nil, err
	}
	revision := &deliveryv1alpha1.DeliveryRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: root.Namespace, Name: Name(root, root.Generation), Labels: Labels(root.UID),
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: root.Name, UID: root.UID}},
		},
		Spec: deliveryv1alpha1.DeliveryRevisionSpec{
			Installation: root.Name, Generation: root.Generation, Component: componentOf(root), Digest: digest,
			Specification: runtime.RawExtension{Raw: raw},
		},
	}
	kept := keptOf(root, others)
	revision.Spec.LastSucceeded = kept.lastSucceeded(root.Generation)
	revision.Spec.WentBackFrom = kept.forgone(root)
	return revision, nil
}

func componentOf(root *v1alpha1.Installation) string {
	component := root.Spec.ComponentDescriptor
	if component == nil || component.Reference == nil {
		return ""
	}
	name := component.Reference.ComponentName + ":" + component.Reference.Version
	return strings.ToValidUTF8(name[:min(len(name), maxComponent)], "")
}

// digestOf identifies a specification, whatever the order of its fields is.
func digestOf(raw []byte) (string, error) {
	value, err := jsonvalue.FromJSONWithNumbers(raw)
	if err != nil {
		return "", fmt.Errorf("read the specification: %w", err)
	}
	canonical, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode the specification: %w", err)
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}

// Specification returns what a revision keeps.
func Specification(revision *deliveryv1alpha1.DeliveryRevision) (*v1alpha1.InstallationSpec, error) {
	spec := &v1alpha1.InstallationSpec{}
	if err := json.Unmarshal(revision.Spec.Specification.Raw, spec); err != nil {
		return nil, fmt.Errorf("read the specification in DeliveryRevision %s: %w", revision.Name, err)
	}
	return spec, nil
}

// kept are the revisions of a root that count, the newest first, and what is known of their jobs.
type kept struct {
	revisions []*deliveryv1alpha1.DeliveryRevision
	records   []v1alpha1.JobRecord
}

// keptOf leaves out what is not of this root, or was changed.
func keptOf(root *v1alpha1.Installation, all []*deliveryv1alpha1.DeliveryRevision) kept {
	k := kept{records: root.Status.History}
	for _, revision := range all {
		owned := slices.ContainsFunc(revision.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == root.UID })
		digest, err := digestOf(revision.Spec.Specification.Raw)
		if owned && err == nil && digest == revision.Spec.Digest && revision.Name == Name(root, revision.Spec.Generation) {
			k.revisions = append(k.revisions, revision)
		}
	}
	slices.SortFunc(k.revisions, func(a, b *deliveryv1alpha1.DeliveryRevision) int {
		return cmp.Compare(b.Spec.Generation, a.Spec.Generation)
	})
	return k
}

func (k kept) of(generation int64) *deliveryv1alpha1.DeliveryRevision {
	for _, revision := range k.revisions {
		if revision.Spec.Generation == generation {
			return revision
		}
	}
	return nil
}

// succeeded reports whether a job has succeeded with a generation. Where the job is not recorded any more,
// later revisions know.
func (k kept) succeeded(generation int64) bool {
	return slices.ContainsFunc(k.records, func(record v1alpha1.JobRecord) bool {
		return record.Generation == generation && record.Phase == v1alpha1.InstallationPhases.Succeeded
	}) || slices.ContainsFunc(k.revisions, func(revision *deliveryv1alpha1.DeliveryRevision) bool {
		return revision.Spec.LastSucceeded == generation
	})
}

// lastSucceeded is the newest kept generation before another one with which a job has succeeded, or 0.
func (k kept) lastSucceeded(before int64) int64 {
	for _, revision := range k.revisions {
		if generation := revision.Spec.Generation; generation < before && k.succeeded(generation) {
			return generation
		}
	}
	return 0
}

// forgone are the digests of the specifications that were rolled back until the present generation.
func (k kept) forgone(root *v1alpha1.Installation) []string {
	var digests []string
	for _, revision := range k.revisions {
		if revision.Spec.Generation < root.Generation {
			// The newest one has those of all before.
			digests = slices.Clone(revision.Spec.WentBackFrom)
			break
		}
	}
	if back := BackOf(root); back != nil && back.Mode == OnFailure {
		if from := k.of(back.From); from != nil && !slices.Contains(digests, from.Spec.Digest) {
			digests = append(digests, from.Spec.Digest)
		}
	}
	return digests[max(0, len(digests)-maxForgone):]
}

// Surplus returns which of the kept revisions go, once that of the present generation is stored: all but
// the newest ones, and the last one that has succeeded.
func Surplus(root *v1alpha1.Installation, present *deliveryv1alpha1.DeliveryRevision, others []*deliveryv1alpha1.DeliveryRevision, keep int) []*deliveryv1alpha1.DeliveryRevision {
	var surplus []*deliveryv1alpha1.DeliveryRevision
	stay := keep - 1 // the present one
	for _, revision := range keptOf(root, others).revisions {
		generation := revision.Spec.Generation
		switch {
		case generation >= root.Generation:
		case stay > 0:
			stay--
		case generation != present.Spec.LastSucceeded:
			surplus = append(surplus, revision)
		}
	}
	return surplus
}
