package dataflow

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// Kind is the kind of an object that a value comes from.
type Kind string

// The kinds of objects that values come from.
const (
	KindDataObject Kind = "DataObject"
	KindSecret     Kind = "Secret"
	KindConfigMap  Kind = "ConfigMap"
	KindTarget     Kind = "Target"
)

// Reference says where the value of one import of an Installation comes from.
type Reference struct {
	// Import is the logical name.
	Import string
	// Type is the type of the import.
	Type v1alpha1.ImportType
	// Path is the field with the reference.
	Path string
	// Objects are those that make up the value: one, or the elements of a list in
	// their order, or those of a map sorted by key.
	Objects []Object
	// Selector finds the elements of a list or map that the parent passes. It is set instead of
	// Objects. See OrderList and KeyMap.
	Selector labels.Selector
}

// Object is an object that a value comes from.
type Object struct {
	Kind            Kind
	Namespace, Name string
	// Key is the entry of a Secret or ConfigMap; without one the whole of it is the
	// value.
	Key string
	// MapKey is the key of an element of a map.
	MapKey string
	// Written is the name that the Installation gives.
	Written string
	// Parent and Element are set if a subinstallation picks one element of a list
	// or map import of its parent: clusters[1] or clusters[blue].
	Parent, Element string
}

// Scope returns the scope in which the imports and exports of an Installation have
// their names: that of its parent, or the empty one of roots.
func Scope(inst *v1alpha1.Installation) string {
	if owner, isSub := job.OwnerOf(inst, "Installation"); isSub {
		return v1alpha1.InstallationScope(owner.Name)
	}
	return ""
}

// References returns for each import of an Installation what it refers to, in the
// order of the specification.
func References(inst *v1alpha1.Installation) []Reference {
	r := referrer{namespace: inst.Namespace, scope: Scope(inst), jobID: inst.Status.JobID}
	imports := &inst.Spec.Imports
	references := make([]Reference, 0, len(imports.Data)+len(imports.Targets))
	for i := range imports.Data {
		if reference, ok := r.data(&imports.Data[i], fmt.Sprintf("spec.imports.data[%d]", i)); ok {
			references = append(references, reference)
		}
	}
	for i := range imports.Targets {
		if reference, ok := r.targets(&imports.Targets[i], fmt.Sprintf("spec.imports.targets[%d]", i)); ok {
			references = append(references, reference)
		}
	}
	return references
}

// referrer knows how names of an Installation are to be understood.
type referrer struct{ namespace, scope, jobID string }

func (r referrer) data(item *v1alpha1.DataImport, path string) (Reference, bool) {
	reference := Reference{Import: item.Name, Type: v1alpha1.ImportTypeData}
	var object Object
	switch {
	case item.DataRef != "":
		reference.Path = path + ".dataRef"
		object = r.object(mention(item.Name, reference.Path, KindDataObject, item.DataRef))
	case item.SecretRef != nil:
		reference.Path = path + ".secretRef"
		object = r.foreign(KindSecret, item.SecretRef.Namespace, item.SecretRef.Name, item.SecretRef.Key)
	case item.ConfigMapRef != nil:
		reference.Path = path + ".configMapRef"
		object = r.foreign(KindConfigMap, item.ConfigMapRef.Namespace, item.ConfigMapRef.Name, item.ConfigMapRef.Key)
	default:
		return reference, false
	}
	reference.Objects = []Object{object}
	return reference, true
}

func (r referrer) foreign(kind Kind, namespace, name, key string) Object {
	return Object{Kind: kind, Namespace: cmp.Or(namespace, r.namespace), Name: name, Key: key, Written: name}
}

func (r referrer) targets(item *v1alpha1.TargetImport, path string) (Reference, bool) {
	reference := Reference{Import: item.Name}
	switch {
	case item.Target != "":
		reference.Type, reference.Path = v1alpha1.ImportTypeTarget, path+".target"
	case item.Targets != nil:
		reference.Type, reference.Path = v1alpha1.ImportTypeTargetList, path+".targets"
	case item.TargetListReference != "":
		reference.Type, reference.Path = v1alpha1.ImportTypeTargetList, path+".targetListRef"
		reference.Selector = r.handedOn(item.TargetListReference)
		return reference, true
	case item.TargetMap != nil:
		reference.Type, reference.Path = v1alpha1.ImportTypeTargetMap, path+".targetMap"
	case item.TargetMapReference != "":
		reference.Type, reference.Path = v1alpha1.ImportTypeTargetMap, path+".targetMapRef"
		reference.Selector = r.handedOn(item.TargetMapReference)
		return reference, true
	default:
		return reference, false
	}
	for _, mention := range targetMentions(item, path) {
		reference.Objects = append(reference.Objects, r.object(mention))
	}
	return reference, true
}

func (r referrer) object(m Mention) Object {
	object := Object{Kind: m.Kind, Namespace: r.namespace, Name: m.Object(r.scope), Written: m.Written, MapKey: m.MapKey}
	if r.scope != "" && m.IsElement() {
		object.Parent, object.Element = m.Name, m.Element
	}
	return object
}

// handedOn selects the copies of a list or map import of the parent.
func (r referrer) handedOn(name string) labels.Selector {
	set := labels.Set{
		v1alpha1.DataObjectKeyLabel:        name,
		v1alpha1.DataObjectSourceTypeLabel: string(v1alpha1.ImportDataObjectSourceType),
	}
	if r.scope == "" {
		// A root has no parent. A user may have labelled Targets of a root by hand.
		return labels.SelectorFromSet(set).Add(outsideScopes)
	}
	set[v1alpha1.DataObjectContextLabel] = r.scope
	if r.jobID != "" {
		// Elements of earlier jobs may still exist.
		set[v1alpha1.DataObjectJobIDLabel] = r.jobID
	}
	return labels.SelectorFromSet(set)
}

var outsideScopes = func() labels.Requirement {
	requirement, err := labels.NewRequirement(v1alpha1.DataObjectContextLabel, selection.DoesNotExist, nil)
	if err != nil {
		panic(err) // the name of the label is a constant
	}
	return *requirement
}()
