package dataflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"go.landscaper.dev/api/v1alpha1"
)

// DataCopies returns the copies of data imports that live in the scope of an
// Installation, where its children and tools find them, sorted by import. What comes
// from Secrets is in Secrets again, to which the DataObjects refer. Null has no copy,
// because a DataObject cannot hold it.
func DataCopies(inst *v1alpha1.Installation, values Values) (Exports, error) {
	var copies Exports
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(values.declared)) {
		value := values.declared[name]
		if values.types[name] != v1alpha1.ImportTypeData || values.isNull(name, value) {
			continue
		}
		if err := copies.addCopy(inst, imported(inst, name), value); err != nil {
			errs = append(errs, fmt.Errorf("copy of import %q: %w", name, err))
		}
	}
	return copies, errors.Join(errs...)
}

func (e *Exports) addCopy(inst *v1alpha1.Installation, place place, value declaredValue) error {
	if value.salt != "" {
		object, secret, err := concealed(inst, place, value)
		if err != nil {
			return err
		}
		e.DataObjects, e.Secrets = append(e.DataObjects, object), append(e.Secrets, secret)
		return nil
	}
	object, err := dataObject(inst, place, value.data)
	if err != nil {
		return err
	}
	e.DataObjects = append(e.DataObjects, object)
	return nil
}

// TargetCopies returns the copies of imported Targets that live in the scope of an
// Installation, one for each element of a list or map, sorted by import.
func TargetCopies(inst *v1alpha1.Installation, values Values) ([]*v1alpha1.Target, error) {
	var copies []*v1alpha1.Target
	var errs []error
	add := func(place place, source *v1alpha1.Target) {
		target, err := targetCopy(inst, place, source)
		if err != nil {
			errs = append(errs, fmt.Errorf("copy of import %q: %w", place.key, err))
			return
		}
		copies = append(copies, target)
	}
	for _, name := range slices.Sorted(maps.Keys(values.declared)) {
		value := values.declared[name]
		if value.target != nil {
			add(imported(inst, name), value.target)
		}
		for i, source := range value.list {
			place := imported(inst, name)
			place.name, place.index = v1alpha1.GenerateDataObjectNameWithIndex(place.scope, name, i), strconv.Itoa(i)
			add(place, source)
		}
		for _, key := range slices.Sorted(maps.Keys(value.byKey)) {
			place := imported(inst, name)
			place.name, place.mapKey = v1alpha1.GenerateDataObjectNameWithKey(place.scope, name, key), key
			add(place, value.byKey[key])
		}
	}
	return copies, errors.Join(errs...)
}

// place is where a value of an Installation has its object.
type place struct {
	scope, key    string
	name          string
	sourceType    v1alpha1.DataObjectSourceType
	index, mapKey string
}

func imported(inst *v1alpha1.Installation, key string) place {
	scope := v1alpha1.InstallationScope(inst.Name)
	return place{scope: scope, key: key, name: v1alpha1.GenerateDataObjectName(scope, key), sourceType: v1alpha1.ImportDataObjectSourceType}
}

// metadata returns the metadata of an object in a place. Its annotations are those
// given, with the hash.
func (p place) metadata(inst *v1alpha1.Installation, labels, annotations map[string]string, hash string) (metav1.ObjectMeta, error) {
	for _, label := range []string{p.key, p.mapKey} {
		if problems := utilvalidation.IsValidLabelValue(label); len(problems) > 0 {
			return metav1.ObjectMeta{}, fmt.Errorf("the name %q becomes a label and cannot: %s", label, strings.Join(problems, "; "))
		}
	}
	meta := metav1.ObjectMeta{Name: p.name, Namespace: inst.Namespace, Labels: map[string]string{}, Annotations: map[string]string{}}
	maps.Copy(meta.Labels, labels)
	maps.Copy(meta.Annotations, annotations)
	for label, value := range map[string]string{
		v1alpha1.DataObjectContextLabel:      p.scope,
		v1alpha1.DataObjectKeyLabel:          p.key,
		v1alpha1.DataObjectSourceLabel:       v1alpha1.InstallationScope(inst.Name),
		v1alpha1.DataObjectSourceTypeLabel:   string(p.sourceType),
		v1alpha1.DataObjectIndexLabel:        p.index,
		v1alpha1.DataObjectTargetMapKeyLabel: p.mapKey,
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

func dataObject(inst *v1alpha1.Installation, place place, value v1alpha1.AnyJSON) (*v1alpha1.DataObject, error) {
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
	// What was encoded is JSON.
	_ = json.Compact(&compact, raw)
	return bytes.Clone(compact.Bytes())
}

func targetCopy(inst *v1alpha1.Installation, place place, source *v1alpha1.Target) (*v1alpha1.Target, error) {
	annotations := maps.Clone(source.Annotations)
	// What kubectl and others note about the source is wrong for the copy.
	delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
	return targetObject(inst, place, &v1alpha1.TargetTemplate{TargetSpec: source.Spec, Labels: source.Labels, Annotations: annotations})
}

func targetObject(inst *v1alpha1.Installation, place place, template *v1alpha1.TargetTemplate) (*v1alpha1.Target, error) {
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
