package channel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/component/signature"
	"go.landscaper.dev/internal/controller/channel/taglists"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/channel"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Poller asks registries.
type Poller struct {
	// Contexts reads Contexts, from a cache.
	Contexts client.Reader
	// Sources reads what a Context refers to.
	Sources *repocontext.Reader
	// Components is what all readers of component versions have in common.
	Components *component.Shared
	// Lists are the lists of tags of this process.
	Lists *taglists.Lists
	// Now is the clock.
	Now func() time.Time
}

// request is what a poll is for.
type request struct {
	// since is when a user or a registry has asked for the poll; zero if the interval is over. A list that
	// is newer than that needs no request.
	since time.Time
	// again looks at the tag of the offered version, too.
	again bool
}

// outcome is what a poll has found out.
type outcome struct {
	found   found
	settled channel.Settled
	// at is when the registry was asked, and key what the list is shared by.
	at  time.Time
	key string
	// asked says that the registry was asked for the list, and changed that it has another one.
	asked, changed bool
	// more says that there are versions that the next poll has to look at.
	more bool
	// err is why the poll has failed, and retry when the registry may be asked again.
	err   error
	retry time.Time
}

// poll is one poll of a Channel.
type poll struct {
	*Poller
	channel *fleetv1alpha1.Channel
	rules   channel.Rules
	sources *repocontext.Sources
	trusts  map[string]signature.Trust
	// job lets all names be resolved anew, once in a poll.
	job string
	// number is which one of the repositories has the component.
	number int
}

// Poll asks the registry of a Channel, and looks at new versions.
func (p *Poller) Poll(ctx context.Context, ch *fleetv1alpha1.Channel, rules channel.Rules, before found, need request) *outcome {
	o := &outcome{found: before, at: p.Now()}
	o.settled = channel.Settled{Versions: before.known.Versions, Refused: before.known.Refused, Digests: before.known.Digests}
	run := &poll{Poller: p, channel: ch, rules: rules, job: string(uuid.NewUUID())}
	if o.err = run.prepare(ctx); o.err != nil {
		return o
	}
	list, err := run.list(ctx, o, need)
	if err != nil {
		o.err = err
		return o
	}
	o.err = run.judge(ctx, o, list, need)
	return o
}

// prepare reads the Context and the keys.
func (p *poll) prepare(ctx context.Context) error {
	landscape := &v1alpha1.Context{}
	name := p.channel.Spec.Context
	if name == "" {
		name = v1alpha1.DefaultContextName
	}
	err := p.Contexts.Get(ctx, types.NamespacedName{Namespace: p.channel.Namespace, Name: name}, landscape)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Context %s: %w", name, err)
	}
	if err != nil {
		return fmt.Errorf("the Context %s cannot be found in this namespace: create it, or correct spec.context", name)
	}
	if p.sources, err = p.Sources.Read(ctx, landscape); err != nil {
		return err // says what it did
	}
	p.trusts = map[string]signature.Trust{}
	for _, name := range p.channel.Spec.Signatures {
		if p.trusts[name], err = p.sources.Trust(ctx, name); err != nil {
			return fmt.Errorf("spec.signatures: %w", err)
		}
	}
	return nil
}

// session returns a session of its own: one in which a version was verified delivers no other one.
func (p *poll) session() (*component.Session, []*component.TagSource, error) {
	options := p.sources.Options
	options.Job, options.Overwrites = p.job, nil
	session := component.NewSession(p.Components, options)
	sources, err := session.TagSources(p.channel.Spec.Component)
	if err != nil {
		return nil, nil, errors.Join(err, session.Close()) // says what it did
	}
	return session, sources, nil
}

// list lists the tags of the first repository that has the component.
func (p *poll) list(ctx context.Context, o *outcome, need request) (taglists.List, error) {
	session, sources, err := p.session()
	if err != nil {
		return taglists.List{}, err
	}
	defer session.Close() //nolint:errcheck // nothing was written
	for number, source := range sources {
		notBefore := need.since
		if notBefore.IsZero() {
			notBefore = p.Now().Add(1 - pauseOf(p.rules, source.Key))
		}
		list, retry, err := p.Lists.Get(ctx, source.Key, notBefore, source.List)
		o.key, o.retry, p.number = source.Key, retry, number
		if errors.Is(err, oci.ErrNotFound) && number < len(sources)-1 {
			continue
		}
		if err == nil {
			o.at, o.asked = list.At, list.Asked
		}
		return list, err // names the registry
	}
	return taglists.List{}, component.ErrNoRepository
}

// pauseOf is how long the list of a key counts for a Channel.
func pauseOf(rules channel.Rules, key string) time.Duration {
	return time.Duration((1 - 0.1*taglists.Spread(key)) * float64(rules.Interval))
}

// judge judges a list, and looks at versions that are not known.
func (p *poll) judge(ctx context.Context, o *outcome, list taglists.List, need request) error {
	f := &o.found
	if basis := p.basis(o.key); basis != f.basis {
		f.known.Void = f.known.Void || f.basis != ""
		f.basis, f.judged = basis, false
	}
	o.changed = !f.judged || f.state != list.State
	f.polls++
	again := need.again || f.polls >= lookAgain
	if again {
		f.polls = 0
	}
	if !o.changed && !again && len(f.known.Refused) == 0 {
		return nil
	}
	judgement := p.rules.Judge(versionsOf(list.Tags))
	examine, more := p.rules.Unexamined(judgement.Fitting, f.known, again)
	findings, err := p.examine(ctx, f, examine)
	o.settled = p.rules.Settle(judgement.Fitting, f.known, findings, p.Now())
	f.refused = refusals(f.refused, o.settled, findings)
	f.known = channel.Known{Versions: o.settled.Versions, Refused: o.settled.Refused, Digests: o.settled.Digests}
	judgement.Fitting = nil // it may be long
	f.judgement, f.state = judgement, list.State
	f.judged, o.more = err == nil && !more, more
	return err
}

// versionsOf returns the versions behind tags.
func versionsOf(tags []string) []string {
	versions := make([]string, len(tags))
	for i, tag := range tags {
		versions[i] = repository.VersionOf(tag)
	}
	return versions
}

// basis stands for the rules, the repository and the keys. What was found by others does not count.
func (p *poll) basis(key string) string {
	sum := sha256.New()
	_, _ = fmt.Fprintln(sum, p.channel.Generation, key, p.channel.Spec.Component)
	for _, name := range p.channel.Spec.Signatures {
		trust := p.trusts[name]
		_, _ = fmt.Fprintf(sum, "%q %q %q %q\n", name, trust.PublicKey, trust.Authorities, trust.Issuer) // it never fails
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// refusals returns what was found out about refused versions. A version whose tag was moved is looked at
// without them.
func refusals(before map[string]channel.Finding, s channel.Settled, findings map[string]channel.Finding) map[string]channel.Finding {
	after := map[string]channel.Finding{}
	for _, refused := range s.Refused {
		finding, examined := findings[refused.Version]
		if !examined {
			finding, examined = before[refused.Version]
		}
		if examined && finding.Reason != "" {
			after[refused.Version] = finding
		}
	}
	return after
}

// examine looks at versions. What was found out until an error counts.
func (p *poll) examine(ctx context.Context, f *found, versions []string) (map[string]channel.Finding, error) {
	findings := map[string]channel.Finding{}
	for _, version := range versions {
		finding, err := p.look(ctx, f, version)
		if err != nil {
			return findings, fmt.Errorf("look at version %s: %w", version, err)
		}
		findings[version] = finding
	}
	return findings, nil
}

// look looks at a version. An error is one of the registry or of the API server, and says nothing about
// the version.
func (p *poll) look(ctx context.Context, f *found, version string) (channel.Finding, error) {
	session, sources, err := p.session()
	if err != nil {
		return channel.Finding{}, err
	}
	defer session.Close() //nolint:errcheck // nothing was written
	source := sources[p.number]
	digest, err := source.Digest(ctx, version)
	found := channel.Finding{Digest: digest.String()}
	if err != nil {
		return refuse(found, reasons.VersionNotReadable, err)
	}
	if first := f.known.Digests[version]; first != "" && (first != found.Digest || !f.known.Void) {
		return found, nil // it was moved, or is as it was when it was found to be fit
	}
	if earlier, known := f.refused[version]; known && !f.known.Void && earlier.Digest == found.Digest {
		return earlier, nil
	}
	return p.verify(ctx, session, source, version, found)
}

// verify reads a version, and checks its signatures.
func (p *poll) verify(ctx context.Context, session *component.Session, source *component.TagSource, version string, found channel.Finding) (channel.Finding, error) {
	resolved, err := session.ResolveEffective(ctx, component.Reference{Context: source.Context, Name: p.channel.Spec.Component, Version: version})
	if err != nil {
		return refuse(found, reasons.VersionNotReadable, err)
	}
	for _, name := range p.channel.Spec.Signatures {
		if err := session.Verify(ctx, resolved, name, p.trusts[name]); err != nil {
			return refuse(found, reasons.SignatureRefused, err)
		}
	}
	return found, nil
}

// refuse refuses a version, unless the error is about something else.
func refuse(found channel.Finding, reason reasons.Reason, err error) (channel.Finding, error) {
	if isElsewhere(err) {
		return found, err
	}
	found.Reason, found.Message = reason, component.Advise(err).Error()
	return found, nil
}

// isElsewhere reports whether an error says nothing about the version that was looked at.
func isElsewhere(err error) bool {
	var unread *repocontext.ReadError
	return component.IsTemporary(err) || errors.Is(err, registry.ErrDenied) || errors.Is(err, context.Canceled) || errors.As(err, &unread)
}

// reasonOf sorts what a poll has failed with.
func reasonOf(err error) reasons.Reason {
	switch {
	case errors.Is(err, registry.ErrDenied):
		return reasons.RegistryDenied
	case errors.Is(err, oci.ErrNotFound):
		return reasons.ComponentNotListed
	case component.IsTemporary(err):
		return reasons.RegistryUnreachable
	}
	return reasons.PollFailed
}
