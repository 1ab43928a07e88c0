package access

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitmemory "github.com/go-git/go-git/v5/storage/memory"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// gitTime is how long it may take to fetch from a Git server, however steadily it
// sends; sharedGitTime where others wait for the process.
const (
	gitTime       = 10 * time.Minute
	sharedGitTime = 90 * time.Second
)

// gitBytes is how much of a repository is read into memory, packed and again unpacked,
// and gitObjects how many objects it may have, of which each takes almost 1 KiB however
// small it is. In a process that serves many, a repository gets as much as an archive that
// is unpacked, and sharedGitObjects.
const (
	gitBytes         = 1 << 30
	gitObjects       = 10_000_000
	sharedGitObjects = 100_000
)

// gitSource says what of a repository is wanted.
type gitSource struct {
	address *url.URL
	ref     string
	commit  string
}

func (r *Reader) git(ctx context.Context, _ *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	var spec struct {
		Repository string `json:"repository"`
		RepoURL    string `json:"repoUrl"` // its name in early releases
		Ref        string `json:"ref"`
		Commit     string `json:"commit"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	source, err := parseGit(firstOf(spec.Repository, spec.RepoURL), spec.Ref, spec.Commit)
	if err != nil {
		return nil, err
	}
	if r.HTTP == nil {
		return nil, fmt.Errorf("fetch from %s: downloads are switched off", source.address.Host)
	}
	found, err := r.fetchGit(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("fetch %s from the Git server %s: %w", source.wanted(), source.address.Host, err)
	}
	return &repository.Blob{ReadCloser: found.pack(ctx, r.gitLimits()), MediaType: "application/x-tgz"}, nil
}

// parseGit reads where a repository is. Only HTTP is spoken: other transports
// would reach files or run programs of this machine.
func parseGit(location, ref, commit string) (gitSource, error) {
	if !strings.Contains(location, "://") {
		location = "https://" + location
	}
	address, err := url.Parse(location)
	switch {
	case err != nil || address.Host == "" || address.Path == "" || (address.Scheme != "https" && address.Scheme != "http"):
		return gitSource{}, fmt.Errorf("%q is no Git repository that can be reached by https or http", repository.Redact(location))
	case address.User != nil:
		return gitSource{}, fmt.Errorf("the repository %q holds credentials: put them into the OCM configuration, with an identity of type %s", repository.Redact(location), credential.TypeGit)
	case commit != "" && !plumbing.IsHash(commit):
		return gitSource{}, fmt.Errorf("the commit %.80q is not a complete commit hash", commit)
	}
	address.RawQuery, address.Fragment = "", ""
	return gitSource{address: address, ref: ref, commit: strings.ToLower(commit)}, nil
}

// wanted names what is wanted in messages.
func (s gitSource) wanted() string {
	switch {
	case s.commit != "":
		return "commit " + s.commit
	case s.ref != "":
		return fmt.Sprintf("reference %.80q", s.ref)
	}
	return "the default branch"
}

func (r *Reader) gitLimits() archive.Limits {
	usual := archive.DefaultLimits()
	if r.MaxBytes > 0 {
		return archive.Limits{Bytes: min(r.MaxBytes, usual.Bytes), Files: 10 * usual.Files, Depth: usual.Depth}
	}
	return archive.Limits{Bytes: gitBytes, Files: 1_000_000, Depth: usual.Depth}
}

// fetchGit fetches a commit, if possible without its history.
func (r *Reader) fetchGit(ctx context.Context, source gitSource) (*gitTree, error) {
	longest, most := gitTime, uint32(gitObjects)
	if r.MaxBytes > 0 {
		longest, most = sharedGitTime, sharedGitObjects
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	limits := r.gitLimits()
	session, err := r.gitSession(source, limits.Bytes)
	if err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // nothing is open
	advertised, err := session.AdvertisedReferencesContext(ctx)
	if err != nil {
		return nil, explainGit(err)
	}
	wanted, err := choose(advertised, source)
	if err != nil {
		return nil, err
	}
	pack, err := upload(ctx, session, advertised, wanted, limits.Bytes)
	if err != nil {
		return nil, explainGit(err)
	}
	if err := checkPack(pack, limits.Bytes, most); err != nil {
		return nil, err
	}
	objects := gitmemory.NewStorage()
	if err := packfile.UpdateObjectStorage(objects, bytes.NewReader(pack)); err != nil {
		return nil, fmt.Errorf("unpack what the server sent: %w", err)
	}
	commit, err := object.GetCommit(objects, wanted.commit)
	if err != nil {
		return nil, fmt.Errorf("commit %s is not part of what the server offers under this reference: %w", wanted.commit, err)
	}
	return &gitTree{objects: objects, root: commit.TreeHash}, nil
}

// gitSession prepares the exchange with a server. The library takes the
// credentials off when a redirect leads to another host.
func (r *Reader) gitSession(source gitSource, limit int64) (transport.UploadPackSession, error) {
	endpoint, err := transport.NewEndpoint(source.address.String())
	if err != nil {
		return nil, fmt.Errorf("the address: %w", err)
	}
	found := r.Credentials.Find(credential.ForURL(credential.TypeGit, source.address))
	client, err := r.client(found[credential.Authority])
	if err != nil {
		return nil, err
	}
	client.Transport = &cappedTransport{next: client.Transport, limit: limit}
	client.CheckRedirect = follow
	var login transport.AuthMethod
	switch {
	case found[credential.Token] != "" && found[credential.Username] != "":
		login = &githttp.BasicAuth{Username: found[credential.Username], Password: found[credential.Token]}
	case found[credential.Token] != "":
		login = &githttp.TokenAuth{Token: found[credential.Token]}
	case found[credential.Username] != "":
		login = &githttp.BasicAuth{Username: found[credential.Username], Password: found[credential.Password]}
	}
	session, err := githttp.NewClient(client).NewUploadPackSession(endpoint, login)
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	return session, nil
}

// explainGit makes errors of the library clear; its messages repeat addresses.
func explainGit(err error) error {
	var failed *url.Error
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return fmt.Errorf("the server denies access: check the credentials for this host, with an identity of type %s: %w", credential.TypeGit, err)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return fmt.Errorf("there is no such repository, correct the url, or check the credentials for this host: %w", err)
	case errors.As(err, &failed):
		return failed.Err
	}
	return err
}

// gitWant is what is asked of a server.
type gitWant struct {
	hashes  []plumbing.Hash
	commit  plumbing.Hash
	history bool
}

// choose finds what must be asked for to get the source. A commit that no
// reference points to needs the server's permission, or the history of a reference.
func choose(advertised *packp.AdvRefs, source gitSource) (gitWant, error) {
	at, named := findRef(advertised, source.ref)
	if source.commit == "" {
		if !named {
			return gitWant{}, fmt.Errorf("the repository has no %s", source.wanted())
		}
		return gitWant{hashes: []plumbing.Hash{at}, commit: peel(advertised, at)}, nil
	}
	commit := plumbing.NewHash(source.commit)
	capabilities := advertised.Capabilities
	if capabilities.Supports(capability.AllowReachableSHA1InWant) || capabilities.Supports(capability.AllowTipSHA1InWant) || offered(advertised, commit) {
		return gitWant{hashes: []plumbing.Hash{commit}, commit: commit}, nil
	}
	if source.ref != "" {
		if !named {
			return gitWant{}, fmt.Errorf("the repository has no reference %.80q", source.ref)
		}
		return gitWant{hashes: []plumbing.Hash{at}, commit: commit, history: true}, nil
	}
	var all []plumbing.Hash
	for _, hash := range advertised.References {
		all = append(all, hash)
	}
	return gitWant{hashes: all, commit: commit, history: true}, nil
}

// findRef finds a reference by its full or its short name; "" is the default
// branch.
func findRef(advertised *packp.AdvRefs, name string) (plumbing.Hash, bool) {
	if name == "" || name == "HEAD" {
		if advertised.Head == nil {
			return plumbing.ZeroHash, false
		}
		return *advertised.Head, true
	}
	for _, prefix := range []string{"", "refs/", "refs/tags/", "refs/heads/"} {
		if hash, exists := advertised.References[prefix+name]; exists {
			return hash, true
		}
	}
	return plumbing.ZeroHash, false
}

// peel returns the commit behind an annotated tag.
func peel(advertised *packp.AdvRefs, hash plumbing.Hash) plumbing.Hash {
	for name, at := range advertised.References {
		if peeled, exists := advertised.Peeled[name]; exists && at == hash {
			return peeled
		}
	}
	return hash
}

func offered(advertised *packp.AdvRefs, hash plumbing.Hash) bool {
	for _, at := range advertised.References {
		if at == hash {
			return true
		}
	}
	return advertised.Head != nil && *advertised.Head == hash
}

// upload gets the pack with what is wanted.
func upload(ctx context.Context, session transport.UploadPackSession, advertised *packp.AdvRefs, wanted gitWant, limit int64) ([]byte, error) {
	request := packp.NewUploadPackRequestFromCapabilities(advertised.Capabilities)
	request.Wants = wanted.hashes
	if !wanted.history && advertised.Capabilities.Supports(capability.Shallow) {
		request.Depth = packp.DepthCommits(1)
		if err := request.Capabilities.Set(capability.Shallow); err != nil {
			return nil, fmt.Errorf("ask for one commit: %w", err)
		}
	}
	response, err := session.UploadPack(ctx, request)
	if err != nil {
		return nil, err // explained by the caller
	}
	defer response.Close() //nolint:errcheck // nothing is written
	var pack io.Reader = response
	switch {
	case request.Capabilities.Supports(capability.Sideband64k):
		pack = sideband.NewDemuxer(sideband.Sideband64k, response)
	case request.Capabilities.Supports(capability.Sideband):
		pack = sideband.NewDemuxer(sideband.Sideband, response)
	}
	return archive.ReadAll(pack, limit) // explained by the caller
}

// cappedTransport ends answers that are longer than the limit.
type cappedTransport struct {
	next  http.RoundTripper
	limit int64
}

// RoundTrip implements http.RoundTripper.
func (c *cappedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if err != nil {
		return nil, err // the HTTP client tells method and address
	}
	response.Body = &capped{ReadCloser: response.Body, limit: c.limit}
	return response, nil
}

// gitTree is a tree of files that was fetched.
type gitTree struct {
	objects *gitmemory.Storage
	root    plumbing.Hash
}

// pack delivers the files as a compressed tar. The same commit gives the same
// bytes.
func (g *gitTree) pack(ctx context.Context, limits archive.Limits) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() {
		_ = writer.CloseWithError(archive.Gzip(writer, func(to io.Writer) error {
			walk := &gitWalk{ctx: ctx, tree: g, to: tar.NewWriter(to), limits: limits}
			if err := walk.directory(g.root, "", 0); err != nil {
				return fmt.Errorf("pack the work tree: %w", err)
			}
			return walk.to.Close() // the pipe passes the error
		}))
	}()
	return reader
}
