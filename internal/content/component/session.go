// Package component finds component versions, everything that they refer to, and the contents of
// their resources. The caller passes credentials, overwrites and configuration as plain values.
package component

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/ocmconfig"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/signature"
)

// Shared is what all sessions of a process have in common.
type Shared struct {
	Cache *cache.Cache
	Pool  *registry.Pool
	// Indexes remembers what is in the indexes of chart repositories; nil reads them
	// each time.
	Indexes *access.Indexes
	// HTTP fetches what is not in a registry; nil refuses it.
	HTTP *http.Client
	// Wget fetches for accesses of type wget; nil allows a GET without a body by HTTP.
	Wget *access.Wget
	// MaxContent is the size of the largest content of a resource that is delivered; zero allows any.
	MaxContent int64
	// S3Endpoint is the address of a storage that speaks S3; that of Amazon if empty.
	S3Endpoint string
}

// DefaultMaxContent is the largest content in a process that serves many tenants.
const DefaultMaxContent = 1 << 30

// NewShared returns what suits a process that serves many tenants, with the default
// policy about where it may connect to.
func NewShared() *Shared { return NewSharedWith(egress.Policy{}) }

// NewSharedWith returns the same with another policy.
func NewSharedWith(policy egress.Policy) *Shared { return NewSharedFor(policy, access.WgetRules{}) }

// NewSharedFor returns the same with other rules for accesses of type wget.
func NewSharedFor(policy egress.Policy, rules access.WgetRules) *Shared {
	timeouts := registry.ServerTimeouts()
	// Without further authorities there is nothing that could go wrong.
	options := access.HTTPOptions{Egress: policy, Timeouts: timeouts}
	client, _ := access.NewHTTPClient(options)
	wget, _ := access.NewWget(options, rules)
	return &Shared{
		Cache:   cache.New(cache.DefaultBytes, cache.DefaultValidity, time.Now),
		Pool:    registry.NewPool(policy, timeouts),
		Indexes: access.NewIndexes(),
		HTTP:    client,
		Wget:    wget,

		MaxContent: DefaultMaxContent,
	}
}

// Options are what belongs to one tenant.
type Options struct {
	// Tenant identifies the caller, usually by its namespace.
	Tenant string
	// Job is the job that needs component versions and contents: for each job, names are resolved
	// anew. Without a job, an answer of a moment ago counts.
	Job string
	// Registry says how registries are reached, and has the credentials.
	Registry registry.Options
	// Default is the repository context where a reference has none.
	Default descriptor.Typed
	// Config has further repositories; its credentials count less than those of
	// Registry.
	Config *ocmconfig.Config
	// Overwrites replace references.
	Overwrites []Overwrite
	// Given has component versions that go before all repositories, but behind inline descriptors; nil
	// for none.
	Given repository.Repository
	// Local is the root of repositories of type local; nil is an empty one.
	Local fs.FS
	// Files allows archives of the host's file system, for the command line.
	Files bool
}

// ErrNoRepository says that nothing says where components are.
var ErrNoRepository = errors.New("no repository or ocm resolvers found: set a repositoryContext in the Installation or its Context, or resolvers in the OCM configuration of the Context")

// Session resolves component versions for one tenant.
//
// The mutex guards what follows it. SetInline and Know change what is found, and are for
// the time before others use the session.
type Session struct {
	shared  *Shared
	options Options
	client  *registry.Client
	by      cache.Asker
	reader  *access.Reader
	inline  repository.Repository
	known   []*descriptor.Descriptor
	// found caches component versions, so that the verified versions are used, even if a tag is moved
	// in between.
	found *found

	mu   sync.Mutex
	open map[string]repository.Repository
	// verified is what a signature covers; nil before one was verified.
	verified signature.Closure
	// archives are to be closed.
	archives []io.Closer
}

// NewSession returns a session. It is to be closed at the end.
//
// Of credentials that fit equally well the last ones count: those of the registry options. Their
// fingerprint is a part of the tenant, so that the cache never delivers what was read with others.
func NewSession(shared *Shared, options Options) *Session {
	credentials := &credential.Store{}
	if options.Config != nil {
		credentials.Add(options.Config.Credentials)
	}
	credentials.Add(options.Registry.Credentials)
	options.Registry.Credentials, options.Registry.Tenant = credentials, options.Tenant
	s := &Session{
		shared: shared, options: options, client: registry.NewClient(shared.Pool, options.Registry),
		by: cache.Asker{Tenant: options.Tenant + " " + credentials.Fingerprint(), Job: options.Job}, open: map[string]repository.Repository{},
		found: &found{versions: map[string]*repository.Version{}},
	}
	s.reader = &access.Reader{
		Registry: s.store, HTTP: shared.HTTP, Wget: shared.Wget, Tenant: options.Tenant, Credentials: credentials, Lookup: s.lookupFor,
		MaxBytes: shared.MaxContent, S3Endpoint: shared.S3Endpoint, Indexes: shared.Indexes,
		Documents: func(ctx context.Context, wanted cache.Wanted, ask cache.Ask) ([]byte, error) {
			return shared.Cache.Document(ctx, s.by, wanted, ask) // what was asked says what it did
		},
	}
	return s
}

// Close gives up what the session holds.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, archive := range s.archives {
		errs = append(errs, archive.Close())
	}
	s.archives, s.open = nil, map[string]repository.Repository{}
	return errors.Join(errs...)
}

// SetInline puts descriptors that are part of an object before all repositories,
// together with those in the labels of their references, and returns the
// reference to the top one. Blobs may be nil.
func (s *Session) SetInline(top *descriptor.Descriptor, blobs fs.FS) (Reference, error) {
	all, err := top.Nested()
	if err != nil {
		return Reference{}, fmt.Errorf("inline component descriptor %s:%s: %w", top.Name, top.Version, err)
	}
	s.inline = repository.Inline(append(all, s.known...), blobs)
	s.found = &found{versions: map[string]*repository.Version{}}
	return Reference{Context: top.EffectiveContext(), Name: top.Name, Version: top.Version}, nil
}

// OpenInline finds the component version of a descriptor that is part of an object,
// and returns the reference to it.
func (s *Session) OpenInline(ctx context.Context, raw []byte) (*repository.Version, Reference, error) {
	top, err := descriptor.DecodeInline(raw)
	if err != nil {
		return nil, Reference{}, fmt.Errorf("inline: %w", err)
	}
	reference, err := s.SetInline(top, nil)
	if err != nil {
		return nil, Reference{}, err
	}
	version, err := s.Resolve(ctx, reference)
	return version, reference, err
}

// Know adds descriptors that go before all repositories, but behind those of
// SetInline.
func (s *Session) Know(more ...*descriptor.Descriptor) {
	s.known = append(s.known, more...)
	s.inline = repository.Inline(s.known, nil)
	s.found = &found{versions: map[string]*repository.Version{}}
}

// Resolve finds a component version, after defaults and overwrites.
func (s *Session) Resolve(ctx context.Context, reference Reference) (*repository.Version, error) {
	if err := reference.check(); err != nil {
		return nil, err
	}
	if found, err := s.pinned(reference); found != nil || err != nil {
		return found, err
	}
	return s.resolve(ctx, s.Effective(reference))
}

// ResolveEffective finds a component version by a reference that Effective has
// returned: overwrites are not applied a second time.
func (s *Session) ResolveEffective(ctx context.Context, reference Reference) (*repository.Version, error) {
	if err := reference.check(); err != nil {
		return nil, err
	}
	if found, err := s.pinned(reference); found != nil || err != nil {
		return found, err
	}
	return s.resolve(ctx, reference)
}

// Effective returns a reference with the default repository context, after the
// overwrites. An inline descriptor is not overwritten.
func (s *Session) Effective(reference Reference) Reference {
	if reference.Context.IsZero() {
		reference.Context = s.options.Default
	}
	if s.isInline(reference) {
		return reference
	}
	overwritten, _ := Apply(s.options.Overwrites, reference)
	return overwritten
}

//nolint:contextcheck // the descriptors are in memory
func (s *Session) isInline(reference Reference) bool {
	if s.inline == nil {
		return false
	}
	_, err := s.inline.Lookup(context.Background(), reference.Name, reference.Version)
	return err == nil
}

// lookupFor finds a component version for an access that leads to its resource. It
// may be any: what the access delivers is compared with the digest of the resource
// that has it.
func (s *Session) lookupFor(ctx context.Context, context descriptor.Typed, name, version string) (*repository.Version, error) {
	reference := Reference{Context: context, Name: name, Version: version}
	if err := reference.check(); err != nil {
		return nil, err
	}
	return s.resolve(ctx, s.Effective(reference))
}

// resolve finds a component version without overwrites: inline descriptors, then
// the given repository, then those of the configuration.
func (s *Session) resolve(ctx context.Context, reference Reference) (*repository.Version, error) {
	var chain []repository.Repository
	if s.inline != nil {
		chain = append(chain, s.inline)
	}
	if s.options.Given != nil {
		chain = append(chain, s.options.Given)
	}
	contexts := s.options.Config.Repositories(reference.Name)
	if !reference.Context.IsZero() && reference.Context.Kind() != repository.KindEmpty {
		contexts = append([]descriptor.Typed{reference.Context}, contexts...)
	}
	if len(contexts) == 0 && s.options.Given == nil && !s.isInline(reference) {
		return nil, fmt.Errorf("find component version %s: %w", reference, ErrNoRepository)
	}
	for _, context := range contexts {
		chain = append(chain, lazy{session: s, context: context})
	}
	return s.found.lookup(ctx, repository.Chain(chain...), contexts, reference)
}

// found caches component versions for the life of a session.
type found struct {
	mu       sync.Mutex
	versions map[string]*repository.Version
	// size is what their descriptors take.
	size int64
}

func (f *found) lookup(ctx context.Context, in repository.Repository, contexts []descriptor.Typed, reference Reference) (*repository.Version, error) {
	key := fmt.Sprintf("%s %s", reference, contexts)
	f.mu.Lock()
	version, known := f.versions[key]
	f.mu.Unlock()
	if known {
		return version, nil
	}
	// Without the lock, since it makes requests: two goroutines may look up the same version, and the
	// first result counts for both.
	version, err := in.Lookup(ctx, reference.Name, reference.Version)
	if err != nil {
		return nil, err // says what it did
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if earlier, known := f.versions[key]; known {
		return earlier, nil
	}
	if f.size += version.Size(); f.size > maxVersions {
		return nil, tooLarge(version.Name, version.Version)
	}
	f.versions[key] = version
	return version, nil
}

// lazy opens a repository when it is asked: a broken repository does no harm behind another that
// has the version.
type lazy struct {
	session *Session
	context descriptor.Typed
}

// Lookup implements repository.Repository.
func (l lazy) Lookup(ctx context.Context, name, version string) (*repository.Version, error) {
	opened, err := l.session.repository(l.context)
	if err != nil {
		return nil, fmt.Errorf("find component version %s:%s: %w", name, version, err)
	}
	return opened.Lookup(ctx, name, version) // says what it did
}

// Reader returns what reads the contents of resources.
func (s *Session) Reader() *access.Reader { return s.reader }

// Read reads the content of a resource of at most limit bytes.
func (s *Session) Read(ctx context.Context, version *repository.Version, resource *descriptor.Resource, limit int64) (content []byte, mediaType string, err error) {
	return s.reader.Read(ctx, version, resource, limit) // names the resource
}

// store returns a registry behind the cache.
func (s *Session) store(scheme, host string) oci.Store {
	r := s.client.Registry(scheme, host)
	return s.shared.Cache.Store(r, r.Name(), s.by)
}

// repository opens the repository of a context; once.
func (s *Session) repository(context descriptor.Typed) (repository.Repository, error) {
	spec, err := repository.ParseSpec(context)
	if err != nil {
		return nil, err // says what is wrong
	}
	key := fmt.Sprintf("%+v", spec)
	s.mu.Lock()
	defer s.mu.Unlock()
	if opened, exists := s.open[key]; exists {
		return opened, nil
	}
	opened, err := s.openRepository(spec, context)
	if err != nil {
		return nil, fmt.Errorf("open repository %s: %w", spec, err)
	}
	s.open[key] = opened
	return opened, nil
}
