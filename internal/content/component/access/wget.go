package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// ErrAnyRequest says that an access of type wget asks for more than a GET without a body.
var ErrAnyRequest = errors.New("only GET without a body is sent")

// WgetRules say what accesses of type wget may ask for beside a GET without a body from the
// Internet. The author of a component version writes address, method, header and body, and reads
// none of the answers: what remains of a request to a private network is its effect.
type WgetRules struct {
	// AnyRequest allows other methods than GET, and bodies; AnyRequestRemedy is how it is allowed.
	AnyRequest       bool
	AnyRequestRemedy string
	// Private allows private networks where the egress policy does; PrivateRemedy is how it is
	// allowed.
	Private       bool
	PrivateRemedy string
}

// Wget fetches what accesses of type wget name.
type Wget struct {
	rules WgetRules
	http  *http.Client
}

// NewWget returns what fetches by these rules, within the egress policy of the options.
func NewWget(options HTTPOptions, rules WgetRules) (*Wget, error) {
	if !rules.Private {
		options.Egress = options.Egress.WithoutPrivate(rules.PrivateRemedy)
	}
	client, err := NewHTTPClient(options)
	if err != nil {
		return nil, err
	}
	return &Wget{rules: rules, http: client}, nil
}

// Unlimited returns the same for accesses that the user has written, with any method and body.
func (w Wget) Unlimited() *Wget {
	w.rules.AnyRequest = true
	return &w
}

// wgetSpec is an access of type wget.
type wgetSpec struct {
	URL        string              `json:"url"`
	MediaType  string              `json:"mediaType"`
	Header     map[string][]string `json:"header"`
	Verb       string              `json:"verb"`
	Body       []byte              `json:"body"`
	NoRedirect bool                `json:"noRedirect"`
}

// check returns an error that names the field which asks for too much, and none of its values.
func (w *WgetRules) check(spec *wgetSpec) error {
	field := ""
	switch {
	case w.AnyRequest:
	case spec.Verb != "" && !strings.EqualFold(spec.Verb, http.MethodGet):
		field = "verb"
	case len(spec.Body) > 0:
		field = "body"
	}
	if field == "" {
		return nil
	}
	return fmt.Errorf("field %s of the access of type wget: %w: %s", field, ErrAnyRequest, firstOf(w.AnyRequestRemedy, "it cannot be allowed here"))
}

func (r *Reader) wget(ctx context.Context, _ *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	var spec wgetSpec
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	through := *r
	rules := &WgetRules{}
	if r.Wget != nil {
		rules, through.HTTP = &r.Wget.rules, r.Wget.http
	}
	if err := rules.check(&spec); err != nil {
		return nil, err
	}
	if strings.EqualFold(spec.Verb, http.MethodGet) {
		spec.Verb = http.MethodGet
	}
	found, err := through.fetch(ctx, request{
		consumer: credential.TypeWget, url: spec.URL, method: spec.Verb, header: spec.Header, body: string(spec.Body), noRedirect: spec.NoRedirect,
	})
	if err != nil {
		return nil, err
	}
	return found.blob(firstOf(spec.MediaType, found.header.Get("Content-Type"), "application/octet-stream")), nil
}
