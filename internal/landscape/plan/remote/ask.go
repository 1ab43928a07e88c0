package remote

import (
	"context"
	"fmt"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/template/componentfunc"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/runtime/sandbox"
)

// question is what the process asks. One of its fields is set.
type question struct {
	Function   *functionQuestion   `cbor:",omitempty"`
	State      *plan.StateKey      `cbor:",omitempty"`
	Referenced *referencedQuestion `cbor:",omitempty"`
	Closure    *closureQuestion    `cbor:",omitempty"`
	Read       *readQuestion       `cbor:",omitempty"`
	Pinned     *plan.Wanted        `cbor:",omitempty"`
	Results    bool                `cbor:",omitempty"`
	// Open is the definition of the component version to be opened.
	Open object `cbor:",omitempty"`
}

type functionQuestion struct {
	Name string
	Args []any
}

// referencedQuestion is about a reference of a version that the server has named, or about a
// reference that a template has, with as much of the version as it knows.
type referencedQuestion struct {
	From, Reference int
	Version         *descriptor.Descriptor `cbor:",omitempty"`
	Written         *descriptor.Reference  `cbor:",omitempty"`
	In, Context     descriptor.Typed
}

type closureQuestion struct {
	Root    int
	Context descriptor.Typed
}

type readQuestion struct {
	Version, Resource int
	Limit             int64
}

// reply is the answer. It has what was asked for, or a failure.
type reply struct {
	Failure   *answerFailure    `cbor:",omitempty"`
	Value     any               `cbor:",omitempty"`
	Content   []byte            `cbor:",omitempty"`
	MediaType string            `cbor:",omitempty"`
	Versions  []version         `cbor:",omitempty"`
	Pinned    object            `cbor:",omitempty"`
	Results   results           `cbor:",omitempty"`
	Component *componentRequest `cbor:",omitempty"`
}

// maxAnswered bounds what all answers of one work have together: a closure may have ten thousand
// descriptors, and a template may read each content many times.
const maxAnswered = 256 << 20

// answers answers the questions of one work.
type answers struct {
	ctx       context.Context // lives for one work
	functions map[string]func(ctx context.Context, args []any) (any, error)
	states    plan.States
	component *plan.Component
	versions  []*repository.Version
	numbers   map[*repository.Version]int
	results   func() (plan.Results, error)
	open      func(definition *v1alpha1.ComponentDescriptorDefinition) (*plan.Component, error)
	// errs are those that were answered with, and bytes is what all answers have.
	errs  sandbox.Answered
	bytes int
}

// answer answers one question.
func (a *answers) answer(body []byte) ([]byte, error) {
	q := &question{}
	if err := sandbox.Decode(body, q); err != nil {
		return nil, err
	}
	r, err := a.reply(q)
	if err != nil {
		r = &reply{Failure: &answerFailure{Text: err.Error(), Advice: component.Advice(err), Temporary: component.IsTemporary(err), Number: a.errs.Add(err)}}
	}
	raw, err := sandbox.Encode(r)
	if err != nil {
		return nil, err
	}
	if a.bytes += len(raw); a.bytes > maxAnswered {
		return nil, fmt.Errorf("what templates read of components and clusters has more than %d MiB: read less", maxAnswered>>20)
	}
	return raw, nil
}

func (a *answers) reply(q *question) (*reply, error) {
	switch {
	case q.Function != nil:
		function, ok := a.functions[q.Function.Name]
		if !ok {
			return nil, fmt.Errorf("there is no function %.80q", q.Function.Name)
		}
		value, err := function(a.ctx, q.Function.Args)
		return &reply{Value: value}, err
	case q.State != nil:
		if a.states == nil {
			return &reply{}, nil
		}
		content, err := a.states.Read(a.ctx, *q.State)
		return &reply{Content: content}, err
	case q.Results && a.results != nil:
		given, err := a.results()
		if err != nil {
			return nil, err // says what cannot be read
		}
		encoded, err := encodeResults(given)
		return &reply{Results: encoded}, err
	case q.Open != nil && a.open != nil:
		definition := &v1alpha1.ComponentDescriptorDefinition{}
		err := q.Open.decode(definition)
		if err != nil {
			return nil, err
		}
		open := a.open
		a.open = nil // once: the server closes one
		if a.component, err = open(definition); err != nil {
			return nil, err // says what cannot be opened
		}
		request, err := a.request()
		return &reply{Component: request}, err
	}
	return a.ofComponent(q)
}

// ofComponent answers what is asked about component versions.
func (a *answers) ofComponent(q *question) (*reply, error) {
	if a.component == nil || a.component.Session == nil {
		return nil, errorText("other component versions cannot be looked up here: no repositories are configured")
	}
	session := a.component.Session
	switch {
	case q.Pinned != nil:
		return a.pinned(session, q.Pinned)
	case q.Referenced != nil:
		return a.referenced(session, q.Referenced)
	case q.Closure != nil:
		return a.closure(session, q.Closure)
	case q.Read != nil:
		of, err := a.version(q.Read.Version)
		if err != nil || q.Read.Resource < 0 || q.Read.Resource >= len(of.Resources) {
			return nil, errUnknown
		}
		content, mediaType, err := session.Read(a.ctx, of, &of.Resources[q.Read.Resource], min(q.Read.Limit, componentfunc.MaxContent))
		return &reply{Content: content, MediaType: mediaType}, err
	}
	return nil, errUnknown
}

func (a *answers) referenced(session componentfunc.Session, q *referencedQuestion) (*reply, error) {
	from, reference := &repository.Version{Descriptor: q.Version, Context: q.In}, q.Written
	if q.Version == nil || q.Written == nil {
		known, err := a.version(q.From)
		if err != nil || q.Reference < 0 || q.Reference >= len(known.References) {
			return nil, errUnknown
		}
		from, reference = known, &known.References[q.Reference]
	}
	found, err := session.Referenced(a.ctx, from, reference, q.Context)
	if err != nil {
		return nil, err // says what was looked for
	}
	return &reply{Versions: []version{a.number(found)}}, nil
}

func (a *answers) closure(session componentfunc.Session, q *closureQuestion) (*reply, error) {
	root, err := a.version(q.Root)
	if err != nil {
		return nil, err
	}
	found, err := session.Closure(a.ctx, root, q.Context)
	if err != nil {
		return nil, err // names the component that is missing
	}
	r := &reply{Versions: make([]version, len(found))}
	for i := range found {
		r.Versions[i] = a.number(found[i])
	}
	return r, nil
}

func (a *answers) pinned(session componentfunc.Session, want *plan.Wanted) (*reply, error) {
	provenance, ok := session.(plan.Provenance)
	if !ok {
		return &reply{}, nil
	}
	resource, err := plan.Pinned(a.ctx, provenance, *want)
	if err != nil || resource == nil {
		return &reply{}, err // names the field
	}
	raw, err := encodeObject(resource)
	return &reply{Pinned: raw}, err
}

// errUnknown: a question about something that the server has not named.
const errUnknown = errorText("nothing of this number is known")

func (a *answers) version(number int) (*repository.Version, error) {
	if number < 0 || number >= len(a.versions) {
		return nil, errUnknown
	}
	return a.versions[number], nil
}

// number returns a version as the process gets it.
func (a *answers) number(v *repository.Version) version {
	number, known := a.numbers[v]
	if !known {
		number = len(a.versions)
		a.numbers[v] = number
		a.versions = append(a.versions, v)
	}
	return version{Number: number, Descriptor: v.Descriptor, Context: v.Context, Warnings: v.Warnings}
}

// request returns the component version as the process gets it; nil without one.
func (a *answers) request() (*componentRequest, error) {
	if a.component == nil {
		return nil, nil
	}
	request := &componentRequest{Version: a.number(a.component.Version), Context: a.component.Context}
	if a.component.Reference == nil {
		return request, nil
	}
	var err error
	request.Reference, err = encodeObject(a.component.Reference)
	return request, err
}

// session asks the server. It implements componentfunc.Session, plan.States and the functions of
// templates in the process.
type session struct {
	ask sandbox.Ask
	// versions are those that the server has named, by its numbers; numbers are theirs.
	versions map[int]*repository.Version
	numbers  map[*repository.Version]int
}

func (s *session) put(q *question) (*reply, error) {
	raw, err := sandbox.Encode(q)
	if err != nil {
		return nil, err
	}
	answered, err := s.ask(raw)
	if err != nil {
		return nil, err // the server's own words
	}
	r := &reply{}
	if err := sandbox.Decode(answered, r); err != nil {
		return nil, err
	}
	return r, r.Failure.decode()
}

// known returns a version that the server has named.
func (s *session) known(v version) *repository.Version {
	if had, ok := s.versions[v.Number]; ok {
		return had
	}
	found := &repository.Version{Descriptor: v.Descriptor, Context: v.Context, Warnings: v.Warnings}
	s.versions[v.Number], s.numbers[found] = found, v.Number
	return found
}

func (s *session) component(request *componentRequest) (*plan.Component, error) {
	if request == nil {
		return nil, nil
	}
	c := &plan.Component{Session: s, Version: s.known(request.Version), Context: request.Context}
	if request.Reference == nil {
		return c, nil
	}
	c.Reference = &v1alpha1.ComponentDescriptorReference{}
	return c, request.Reference.decode(c.Reference)
}

// Referenced implements uri.Finder.
func (s *session) Referenced(_ context.Context, from *repository.Version, reference *descriptor.Reference, context descriptor.Typed) (*repository.Version, error) {
	asked := &referencedQuestion{Context: context}
	number, ok := s.numbers[from]
	if index := indexOf(from.References, reference); ok && index >= 0 {
		asked.From, asked.Reference = number, index
	} else {
		asked.Version, asked.Written, asked.In = from.Descriptor, reference, from.Context
	}
	r, err := s.put(&question{Referenced: asked})
	if err != nil {
		return nil, err // the server's own words
	}
	return s.known(r.Versions[0]), nil
}

// Pinned implements plan.Pinner.
func (s *session) Pinned(_ context.Context, want plan.Wanted) (*v1alpha1.GivenResource, error) {
	r, err := s.put(&question{Pinned: &want})
	if err != nil || len(r.Pinned) == 0 {
		return nil, err // the server's own words
	}
	resource := &v1alpha1.GivenResource{}
	return resource, r.Pinned.decode(resource)
}

// Closure implements componentfunc.Session.
func (s *session) Closure(_ context.Context, root *repository.Version, context descriptor.Typed) ([]*repository.Version, error) {
	number, ok := s.numbers[root]
	if !ok {
		return nil, errUnknown
	}
	r, err := s.put(&question{Closure: &closureQuestion{number, context}})
	if err != nil {
		return nil, err // the server's own words
	}
	found := make([]*repository.Version, len(r.Versions))
	for i, v := range r.Versions {
		found[i] = s.known(v)
	}
	return found, nil
}

// Read implements componentfunc.Session.
func (s *session) Read(_ context.Context, of *repository.Version, resource *descriptor.Resource, limit int64) ([]byte, string, error) {
	number, ok := s.numbers[of]
	index := indexOf(of.Resources, resource)
	if !ok || index < 0 {
		return nil, "", errUnknown
	}
	r, err := s.put(&question{Read: &readQuestion{number, index, limit}})
	if err != nil {
		return nil, "", err // the server's own words
	}
	return r.Content, r.MediaType, nil
}

// indexOf finds an element by its address.
func indexOf[T any](elements []T, element *T) int {
	for i := range elements {
		if &elements[i] == element {
			return i
		}
	}
	return -1
}

// states implements plan.States.
type states struct{ *session }

// Read implements plan.States.
func (s states) Read(_ context.Context, key plan.StateKey) ([]byte, error) {
	r, err := s.put(&question{State: &key})
	if err != nil {
		return nil, err // the server's own words
	}
	return r.Content, nil
}

// function returns a function of templates.
func (s *session) function(name string) func(context.Context, []any) (any, error) {
	return func(_ context.Context, args []any) (any, error) {
		r, err := s.put(&question{Function: &functionQuestion{name, args}})
		if err != nil {
			return nil, err // the server's own words
		}
		return r.Value, nil
	}
}
