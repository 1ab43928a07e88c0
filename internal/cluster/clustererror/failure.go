package clustererror

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TalkToCluster is the operation that fails.
const TalkToCluster = "TalkToCluster"

// Explain returns the failure to talk to a cluster with its cause and a remedy.
// Errors that are about an object, not about the connection, come back as they
// are. Server is the address that was tried.
func Explain(err error, operation, server string) error {
	if err == nil || alreadyExplained(err) {
		return err
	}
	found := classify(err)
	if found.reason == "" {
		return err
	}
	// The query of the address is dropped: it may hold a token.
	server, _, _ = strings.Cut(server, "?")
	// The cause gets a text of ours: a URL error repeats the request, which may hold secrets.
	return job.Wrap(shortCause{err, found.text}, operation, found.reason, fmt.Sprintf("talk to the cluster at %s; %s", server, found.remedy), found.codes...)
}

func alreadyExplained(err error) bool {
	var cause shortCause
	return errors.As(err, &cause)
}

// IsConnection reports whether an error is about the connection, so that other requests to this
// cluster would fail as well.
func IsConnection(err error) bool { return classify(err).reason != "" }

// shortCause shows an error by a short text.
type shortCause struct {
	error
	text string
}

// Error implements error.
func (c shortCause) Error() string { return c.text }

// Unwrap returns the whole error.
func (c shortCause) Unwrap() error { return c.error }

// failure is what is known of a failure to talk to a cluster. It is empty for an error about an
// object.
type failure struct {
	reason       reasons.Reason
	text, remedy string
	codes        []v1alpha1.ErrorCode
	// silent says that the cluster does not answer, and tokenless that a token could not be requested.
	silent, tokenless bool
}

func classify(err error) failure {
	var token NoToken
	var large *answerlimit.TooLarge
	switch {
	case errors.As(err, &large):
		return failure{reason: reasons.AnswerTooLarge, text: large.Error(), remedy: "check that the address in the Target is that of an API server", codes: []v1alpha1.ErrorCode{v1alpha1.ErrorConfigurationProblem}}
	case errors.As(err, &answerlimit.Busy{}):
		return failure{reason: reasons.TooManyLargeAnswers, text: answerlimit.Busy{}.Error(), remedy: "this will be tried again"}
	case errors.Is(err, ErrUnreadable), errors.Is(err, ErrIncomplete):
		return failure{reason: reasons.AnswerNotReadable, text: unreadableText(err), remedy: "check that the address in the Target is that of an API server"}
	case NotAllowed(err) != nil:
		return failure{reason: reasons.ConnectionNotAllowed, text: NotAllowed(err).Error(), remedy: "put the address of an API server that answers itself into the Target", codes: []v1alpha1.ErrorCode{v1alpha1.ErrorConfigurationProblem}}
	case errors.As(err, &token):
		return failure{reason: reasons.TokenRequestFailed, text: token.Error(), remedy: cmp.Or(token.Remedy, "this will be tried again"), tokenless: true}
	case apierrors.IsUnauthorized(err):
		return failure{reason: reasons.Unauthorized, text: "it does not accept the credentials (401)", remedy: "put valid credentials into the Target", codes: []v1alpha1.ErrorCode{v1alpha1.ErrorUnauthorized}}
	case isTLS(err):
		return failure{reason: reasons.CertificateNotTrusted, text: tlsText(err), remedy: "check the certificate authority and the client certificate in the Target"}
	case errors.Is(err, syscall.ECONNREFUSED):
		return failure{reason: reasons.ConnectionRefused, text: "connection refused", remedy: "check the address in the Target and that the API server runs"}
	case isNetwork(err):
		return failure{reason: reasons.ClusterUnreachable, text: networkText(err), remedy: "check the address in the Target and the network between this deployer and the cluster", silent: true}
	}
	return failure{}
}

func unreadableText(err error) string {
	if errors.Is(err, ErrIncomplete) {
		return ErrIncomplete.Error()
	}
	return ErrUnreadable.Error()
}

// NotAllowed returns why this process does not connect, if that is the failure.
func NotAllowed(err error) error {
	var refused *egress.Refused
	if errors.As(err, &refused) {
		return refused
	}
	for _, known := range []error{ErrRedirect, ErrPlain, ErrMediaType, ErrOpensOurs} {
		if errors.Is(err, known) {
			return known
		}
	}
	return nil
}

// Unreadable reports whether an error is about the content of an answer: neither a status of the
// cluster nor a failure of the connection.
func Unreadable(err error) bool {
	var status apierrors.APIStatus
	var discovery *discovery.ErrGroupDiscoveryFailed
	if err == nil || errors.As(err, &status) || errors.As(err, &discovery) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	return !IsConnection(err)
}

func isTLS(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var operation *net.OpError
	if errors.As(err, &operation) && operation.Op == "remote error" || errors.Is(err, http.ErrSchemeMismatch) {
		return true
	}
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &hostname) ||
		errors.As(err, &invalid) || errors.As(err, &record) || errors.As(err, &alert)
}

// tlsText says in words of ours what is wrong with a certificate: its content comes from the
// server.
func tlsText(err error) string {
	var record tls.RecordHeaderError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var authority x509.UnknownAuthorityError
	switch {
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "the server does not speak TLS"
	case errors.As(err, &hostname):
		return "the certificate of the server is for other names than this one"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate of the server has expired or is not yet valid"
	case errors.As(err, &invalid):
		return "the certificate of the server is not valid"
	case errors.As(err, &authority):
		return "the certificate of the server is signed by an unknown authority"
	}
	return "the TLS handshake failed: one side does not accept the certificate or the version of the other"
}

func isNetwork(err error) bool {
	var operation *net.OpError
	var lookup *net.DNSError
	var address *url.Error
	return errors.As(err, &operation) || errors.As(err, &lookup) || errors.As(err, &address) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF)
}

func networkText(err error) string {
	var lookup *net.DNSError
	var failure net.Error
	switch {
	case errors.As(err, &lookup):
		return "the name " + lookup.Name + " cannot be resolved"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &failure) && failure.Timeout():
		return "no answer in time"
	}
	var errno syscall.Errno
	switch {
	case errors.As(err, &errno):
		return errno.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ended the connection"
	}
	// Any other error quotes the server.
	return "it does not answer as an API server does"
}

// Silent reports whether an error is a timeout: the cluster does not answer.
func Silent(err error) bool { return classify(err).silent }

// LacksToken reports whether an error says that a token for the cluster could not be requested.
func LacksToken(err error) bool { return classify(err).tokenless }
