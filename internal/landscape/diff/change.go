package diff

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Action is what happens to an object.
type Action string

// The actions.
const (
	Create Action = "create"
	Update Action = "update"
	Delete Action = "delete"
	Keep   Action = "keep"
	// Replace means that an object is deleted and created anew.
	Replace Action = "replace"
	// Move means that an object becomes one of another item, and may change with that.
	Move Action = "move"
	// Unknown means that the outcome is known only when the job runs.
	Unknown Action = "unknown"
)

// Object is an object as it is and as it would be; nil for none.
type Object struct {
	APIVersion, Kind, Namespace, Name string
	Before, After                     map[string]any
	// Cluster names the cluster if that is not the one of the item's Target.
	Cluster string
	// Replaced is set if the object is deleted and created anew.
	Replaced bool
	// Applied is what exports of the item may rely on: the object as it is applied. Of a new
	// one it has only what the manifest says, as an API server fills in other values with
	// each creation, and of none it is nil.
	Applied map[string]any
	// Unknown is the reason why the outcome cannot be known before.
	Unknown string
	// MovesFrom and MovesTo name the items between which the object moves: the one that does
	// not want it any more, and the one that takes it over. The marks of owners are no
	// difference then. Without After, its content stays.
	MovesFrom, MovesTo string
	// Stays says why the object stays although its item does not want it any more.
	Stays string
	// Unwanted is set if the item does not want the object any more.
	Unwanted bool
	// Left is the object as it is if the item does not want it any more and leaves it on the cluster,
	// because the object says so.
	Left map[string]any
	// Beside is set if nothing of the item depends on what becomes of it.
	Beside bool
}

// Reference names the object.
func (o Object) Reference() corev1.ObjectReference {
	return corev1.ObjectReference{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
}

// Change is what would happen to an object.
type Change struct {
	Action     Action  `json:"action"`
	APIVersion string  `json:"apiVersion,omitempty"`
	Kind       string  `json:"kind"`
	Namespace  string  `json:"namespace,omitempty"`
	Name       string  `json:"name"`
	Fields     []Field `json:"fields,omitempty"`
	// Cluster names the cluster if that is not the one of the item's Target, but one to
	// which it led before.
	Cluster string `json:"cluster,omitempty"`
	// MovesFrom and MovesTo are the items between which the object moves.
	MovesFrom string `json:"movesFrom,omitempty"`
	MovesTo   string `json:"movesTo,omitempty"`
	// Reason says why the change is unknown, or why an object stays that its item does not want any
	// more.
	Reason string `json:"reason,omitempty"`
}

// hidden stands for values that are not shown.
const hidden = "(secret)"

// Of compares an object. Hide replaces the confidential parts of a text; it may be nil. A value
// with a confidential part is not shown at all, and neither is the value before it, which may
// contain an older secret.
func Of(object Object, hide func(string) string) Change {
	if hide == nil {
		hide = func(text string) string { return text }
	}
	c := Bare(object)
	for _, text := range []*string{&c.Namespace, &c.Name, &c.Cluster, &c.MovesFrom, &c.MovesTo, &c.Reason} {
		*text = hide(*text)
	}
	for i := range c.Fields {
		c.Fields[i].conceal(c.Kind, object.APIVersion, hide)
	}
	return c
}

// Bare compares an object and conceals nothing: it is for what is compared further, and never shown.
func Bare(object Object) Change {
	c := Change{
		APIVersion: object.APIVersion, Kind: object.Kind, Namespace: object.Namespace, Name: object.Name, Cluster: object.Cluster,
		MovesFrom: object.MovesFrom, MovesTo: object.MovesTo, Action: actionOf(object),
	}
	switch c.Action {
	case Unknown:
		c.Reason = object.Unknown
	case Keep:
		c.Reason = object.Stays
	case Create:
		c.Fields = leaves("", contentOfNew(object.After))
	case Update, Replace, Move:
		if object.After != nil {
			c.Fields = Fields(content(object.Before), content(object.After))
		}
	}
	if c.Action == Update && len(c.Fields) == 0 {
		c.Action = Keep
	}
	return c
}

// actionOf is what happens to an object, if its content changes.
func actionOf(object Object) Action {
	switch {
	case object.Unknown != "":
		return Unknown
	case object.Before == nil && object.After == nil, object.Stays != "":
		return Keep
	case object.Before == nil:
		return Create
	case object.Replaced && object.After != nil:
		return Replace
	case object.MovesTo != "":
		return Move
	case object.After == nil:
		return Delete
	}
	return Update
}

// contentOfNew is what is worth showing of a new object besides its name.
func contentOfNew(object map[string]any) map[string]any {
	after := content(object)
	for _, known := range []string{"apiVersion", "kind"} {
		delete(after, known)
	}
	if metadata, ok := after["metadata"].(map[string]any); ok {
		delete(metadata, "name")
		delete(metadata, "namespace")
	}
	return after
}

// leaves returns all fields of something new.
func leaves(path string, value any) []Field {
	found := fields(path, emptyOf(value), value)
	var all []Field
	for _, field := range found {
		if _, isMap := field.After.(map[string]any); isMap {
			all = append(all, leaves(field.Path, field.After)...)
			continue
		}
		all = append(all, field)
	}
	return all
}

func emptyOf(value any) any {
	if _, isMap := value.(map[string]any); isMap {
		return map[string]any{}
	}
	return nil
}

// conceal removes what is confidential: the content of Secrets, and values from Secrets that are
// repeated elsewhere.
func (f *Field) conceal(kind, apiVersion string, hide func(string) string) {
	inSecret := kind == "Secret" && apiVersion == "v1" && (under(f.Path, "data") || under(f.Path, "stringData") || strings.Contains(f.Path, "last-applied-configuration"))
	f.Secret = inSecret || repeats(f.Before, hide) || repeats(f.After, hide)
	f.Path = hide(f.Path)
	if !f.Secret {
		return
	}
	if f.Before != nil {
		f.Before = hidden
	}
	if f.After != nil {
		f.After = hidden
	}
}

func under(path, field string) bool {
	return path == field || strings.HasPrefix(path, field+".") || strings.HasPrefix(path, field+"[")
}

// repeats reports whether a value contains anything confidential.
func repeats(value any, hide func(string) string) bool {
	switch value := value.(type) {
	case nil, bool:
		return false
	case map[string]any:
		for key, element := range value {
			if hide(key) != key || repeats(element, hide) {
				return true
			}
		}
		return false
	case []any:
		return slices.ContainsFunc(value, func(element any) bool { return repeats(element, hide) })
	}
	// A number may be a secret, too.
	text := fmt.Sprint(value)
	return hide(text) != text
}

// content leaves out what changes with each write, and what controllers report.
func content(object map[string]any) map[string]any {
	copied := make(map[string]any, len(object))
	for key, value := range object {
		if key != "status" {
			copied[key] = value
		}
	}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return copied
	}
	kept := map[string]any{}
	for key, value := range metadata {
		if !slices.Contains(system, key) {
			kept[key] = value
		}
	}
	copied["metadata"] = kept
	return copied
}

// system are the fields of the metadata that only an API server sets.
var system = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields", "selfLink"}

// Summary counts changes.
type Summary struct {
	Create int `json:"create"`
	Update int `json:"update"`
	Delete int `json:"delete"`
	// Move counts objects that move from one item to another.
	Move int `json:"move"`
	// Replace counts objects that are deleted and created anew.
	Replace int `json:"replace"`
	Keep    int `json:"keep"`
	Unknown int `json:"unknown"`
}

// Add counts a change.
func (s *Summary) Add(action Action) {
	switch action {
	case Create:
		s.Create++
	case Update:
		s.Update++
	case Delete:
		s.Delete++
	case Move:
		s.Move++
	case Replace:
		s.Replace++
	case Keep:
		s.Keep++
	case Unknown:
		s.Unknown++
	}
}

// Changes reports whether anything would change, or may.
func (s *Summary) Changes() bool { return s.Create+s.Update+s.Move+s.Delete+s.Replace+s.Unknown > 0 }

// String is a line for people.
func (s *Summary) String() string {
	text := fmt.Sprintf("%d to create, %d to change, ", s.Create, s.Update)
	switch s.Move {
	case 0:
	case 1:
		text += "1 moves, "
	default:
		text += fmt.Sprintf("%d move, ", s.Move)
	}
	text += fmt.Sprintf("%d to delete, %d unchanged", s.Delete, s.Keep)
	if s.Replace > 0 {
		text += fmt.Sprintf(", %d to delete and create", s.Replace)
	}
	if s.Unknown > 0 {
		text += fmt.Sprintf(", %d known only when the job runs", s.Unknown)
	}
	return text
}
