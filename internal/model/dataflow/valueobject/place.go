// Package valueobject makes the objects that hold the values of Installations: DataObjects,
// the Secrets of those that came from Secrets, and Targets, with their names, labels
// and digests.
package valueobject

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
)

// Place is where a value of an Installation has its object.
type Place struct {
	Scope, Key    string
	Name          string
	SourceType    v1alpha1.DataObjectSourceType
	Index, MapKey string
}

// Imported is the place of the copy of an import, which children read.
func Imported(inst *v1alpha1.Installation, key string) Place {
	scope := v1alpha1.InstallationScope(inst.Name)
	return Place{Scope: scope, Key: key, Name: v1alpha1.GenerateDataObjectName(scope, key), SourceType: v1alpha1.ImportDataObjectSourceType}
}

// metadata returns the metadata of an object in a place. Its annotations are those
// given, with the hash.
func (p Place) metadata(inst *v1alpha1.Installation, labels, annotations map[string]string, hash string) (metav1.ObjectMeta, error) {
	for _, label := range []string{p.Key, p.MapKey} {
		if problems := utilvalidation.IsValidLabelValue(label); len(problems) > 0 {
			return metav1.ObjectMeta{}, fmt.Errorf("the name %q becomes a label and cannot: %s", label, strings.Join(problems, "; "))
		}
	}
	meta := metav1.ObjectMeta{Name: p.Name, Namespace: inst.Namespace, Labels: map[string]string{}, Annotations: map[string]string{}}
	maps.Copy(meta.Labels, labels)
	maps.Copy(meta.Annotations, annotations)
	for label, value := range map[string]string{
		v1alpha1.DataObjectContextLabel:      p.Scope,
		v1alpha1.DataObjectKeyLabel:          p.Key,
		v1alpha1.DataObjectSourceLabel:       v1alpha1.InstallationScope(inst.Name),
		v1alpha1.DataObjectSourceTypeLabel:   string(p.SourceType),
		v1alpha1.DataObjectIndexLabel:        p.Index,
		v1alpha1.DataObjectTargetMapKeyLabel: p.MapKey,
		v1alpha1.DataObjectJobIDLabel:        inst.Status.JobID,
	} {
		// The source may itself be a copy, for example an element of a list.
		delete(meta.Labels, label)
		if value != "" {
			meta.Labels[label] = value
		}
	}
	meta.Annotations[v1alpha1.DataObjectHashAnnotation] = hash
	meta.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: inst.Name, UID: inst.UID,
	}}
	return meta, nil
}

// DataObject returns the object that holds a value in a place.
func DataObject(inst *v1alpha1.Installation, place Place, value v1alpha1.AnyJSON) (*v1alpha1.DataObject, error) {
	raw, err := EncodeJSON(value.RawMessage)
	if err != nil {
		return nil, err
	}
	meta, err := place.metadata(inst, nil, nil, Hash(raw))
	if err != nil {
		return nil, err
	}
	return &v1alpha1.DataObject{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "DataObject"},
		ObjectMeta: meta,
		Data:       v1alpha1.NewAnyJSON(compacted(raw)),
	}, nil
}

// compacted returns a JSON text without the blanks that only digests need.
func compacted(raw []byte) []byte {
	var compact bytes.Buffer
	compact.Grow(len(raw) / 2)
	// The encoder has written valid JSON.
	_ = json.Compact(&compact, raw)
	return bytes.Clone(compact.Bytes())
}

// TargetCopy returns the copy of a Target in a place.
func TargetCopy(inst *v1alpha1.Installation, place Place, source *v1alpha1.Target) (*v1alpha1.Target, error) {
	annotations := maps.Clone(source.Annotations)
	// Annotations of kubectl and others about the source are wrong for the copy.
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	return TargetObject(inst, place, &v1alpha1.TargetTemplate{TargetSpec: source.Spec, Labels: source.Labels, Annotations: annotations})
}

// TargetObject returns the Target that a template describes, in a place.
func TargetObject(inst *v1alpha1.Installation, place Place, template *v1alpha1.TargetTemplate) (*v1alpha1.Target, error) {
	spec := template.TargetSpec.DeepCopy()
	meta, err := place.metadata(inst, template.Labels, template.Annotations, TargetHash(spec))
	if err != nil {
		return nil, err
	}
	return &v1alpha1.Target{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Target"},
		ObjectMeta: meta,
		Spec:       *spec,
	}, nil
}

// TargetValue returns a Target as templates see it: complete, but without the
// records of who wrote which field.
func TargetValue(target *v1alpha1.Target) (any, error) {
	shown := *target
	// An object from a cache has no kind, but templates can ask for it.
	shown.APIVersion, shown.Kind = v1alpha1.GroupVersion.String(), "Target"
	shown.ManagedFields = nil
	value, err := jsonvalue.FromObject(&shown)
	if err != nil {
		// The cause is left out: it may quote the configuration.
		return nil, fmt.Errorf("Target %s cannot be encoded as JSON", target.Name) //nolint:staticcheck // a kind begins with a capital
	}
	return value, nil
}
