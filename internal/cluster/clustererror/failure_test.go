package clustererror

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// word is what no message may repeat.
const word = "hunter2hunter2"

// asked is an error as the library for HTTP returns it: it repeats the request.
func asked(err error) error {
	return &url.Error{Op: "Get", URL: "https://127.0.0.1:6443/api?token=" + word, Err: err}
}

func dialed(err error) error { return asked(&net.OpError{Op: "dial", Net: "tcp", Err: err}) }

var pods = schema.GroupResource{Resource: "pods"}

// TestExplain: each way in which a cluster cannot be reached has a reason, our words and
// a remedy, and nothing of what was sent or answered.
func TestExplain(t *testing.T) {
	tests := []struct {
		reason string
		err    error
		want   reasons.Reason
		text   string
	}{
		{"a port without a listener", dialed(os.NewSyscallError("connect", syscall.ECONNREFUSED)), reasons.ConnectionRefused, "connection refused"},
		{"a host without a route", dialed(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), reasons.ClusterUnreachable, syscall.EHOSTUNREACH.Error()},
		{"the name does not exist", dialed(&net.DNSError{Err: "no such host", Name: "api.example.test"}), reasons.ClusterUnreachable, "the name api.example.test cannot be resolved"},
		{"no answer in time", asked(context.DeadlineExceeded), reasons.ClusterUnreachable, "no answer in time"},
		{"no answer in time, as the system says it", dialed(os.ErrDeadlineExceeded), reasons.ClusterUnreachable, "no answer in time"},
		{"a server that closes the connection", asked(io.EOF), reasons.ClusterUnreachable, "it ended the connection"},
		{"a server that closes the connection in the middle", io.ErrUnexpectedEOF, reasons.ClusterUnreachable, "it ended the connection"},
		{"an answer that is not HTTP", asked(errors.New("malformed HTTP response " + word)), reasons.ClusterUnreachable, "it does not answer as an API server does"},
		{"an unknown authority", asked(&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}), reasons.CertificateNotTrusted, "signed by an unknown authority"},
		{"a certificate for another name", asked(x509.HostnameError{Host: word, Certificate: &x509.Certificate{DNSNames: []string{word}}}), reasons.CertificateNotTrusted, "for other names than this one"},
		{"a certificate that has expired", asked(x509.CertificateInvalidError{Reason: x509.Expired, Detail: word}), reasons.CertificateNotTrusted, "has expired or is not yet valid"},
		{"a certificate that is not valid", asked(x509.CertificateInvalidError{Reason: x509.TooManyIntermediates, Detail: word}), reasons.CertificateNotTrusted, "is not valid"},
		{"a server without TLS", asked(tls.RecordHeaderError{Msg: word}), reasons.CertificateNotTrusted, "does not speak TLS"},
		{"a server without TLS, as HTTP says it", asked(http.ErrSchemeMismatch), reasons.CertificateNotTrusted, "does not speak TLS"},
		{"a server that does not accept the client certificate", asked(&net.OpError{Op: "remote error", Err: tls.AlertError(42)}), reasons.CertificateNotTrusted, "the TLS handshake failed"},
		{"credentials that it does not accept", apierrors.NewUnauthorized(word), reasons.Unauthorized, "it does not accept the credentials (401)"},
		{"an answer that is too large", fmt.Errorf("read: %w", &answerlimit.TooLarge{What: "the list of pods"}), reasons.AnswerTooLarge, "the list of pods is larger"},
		{"too many answers at once", fmt.Errorf("read: %w", answerlimit.Busy{}), reasons.TooManyLargeAnswers, "too many large answers"},
		{"an answer that cannot be read", fmt.Errorf("%w: %s", ErrUnreadable, word), reasons.AnswerNotReadable, ErrUnreadable.Error()},
		{"a list that is not complete", fmt.Errorf("%w: %s", ErrIncomplete, word), reasons.AnswerNotReadable, ErrIncomplete.Error()},
		{"a redirect", asked(ErrRedirect), reasons.ConnectionNotAllowed, ErrRedirect.Error()},
		{"no encryption", asked(ErrPlain), reasons.ConnectionNotAllowed, ErrPlain.Error()},
		{"something else than JSON", asked(ErrMediaType), reasons.ConnectionNotAllowed, ErrMediaType.Error()},
		{"a token that opens ours", NoToken{Cause: ErrOpensOurs}, reasons.TokenRequestFailed, ErrOpensOurs.Error()},
		{"no token could be had", NoToken{Cause: errors.New("the ServiceAccount a/b does not exist"), Remedy: "create it"}, reasons.TokenRequestFailed, "the ServiceAccount a/b does not exist"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			err := Explain(test.err, TalkToCluster, "https://127.0.0.1:6443?token="+word)
			var shown *job.Error
			if !errors.As(err, &shown) || shown.Operation != TalkToCluster || shown.Reason != test.want {
				t.Fatalf("got %+v", err)
			}
			if text := err.Error(); !strings.Contains(text, test.text) || !strings.Contains(text, "https://127.0.0.1:6443;") || strings.Contains(text, word) {
				t.Errorf("it says %q", text)
			}
			if !IsConnection(test.err) || Unreadable(test.err) || Silent(test.err) != (test.want == reasons.ClusterUnreachable) {
				t.Errorf("connection %t, unreadable %t, silent %t", IsConnection(test.err), Unreadable(test.err), Silent(test.err))
			}
			if again := Explain(err, "Other", "other"); again.Error() != err.Error() {
				t.Errorf("it is explained twice: %v", again)
			}
		})
	}
}

// TestNotAboutTheConnection: what is about an object comes back as it is: another object
// may well work.
func TestNotAboutTheConnection(t *testing.T) {
	tests := []struct {
		reason     string
		err        error
		unreadable bool
	}{
		{"no error", nil, false},
		{"a right is missing", apierrors.NewForbidden(pods, "a", errors.New("x")), false},
		{"an object that does not exist", apierrors.NewNotFound(pods, "a"), false},
		{"an object that has changed", apierrors.NewConflict(pods, "a", errors.New("x")), false},
		{"the server is overloaded", apierrors.NewTooManyRequests("x", 1), false},
		{"the server has failed", apierrors.NewInternalError(errors.New("x")), false},
		{"some groups of the API do not answer", &discovery.ErrGroupDiscoveryFailed{}, false},
		{"what a decoder says", errors.New("json: cannot unmarshal " + word), true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := Explain(test.err, TalkToCluster, "https://127.0.0.1:6443"); fmt.Sprint(got) != fmt.Sprint(test.err) {
				t.Errorf("it becomes %v", got)
			}
			if IsConnection(test.err) || Silent(test.err) || NotAllowed(test.err) != nil || Unreadable(test.err) != test.unreadable {
				t.Errorf("it is taken for one about the connection, or is unreadable: %t", Unreadable(test.err))
			}
		})
	}
}

// TestCodes: what the owner of a Target has to change has a code, what passes has none.
func TestCodes(t *testing.T) {
	tests := []struct {
		reason string
		err    error
		want   v1alpha1.ErrorCode
	}{
		{"an address that is refused", asked(&egress.Refused{}), v1alpha1.ErrorConfigurationProblem},
		{"an address that redirects", asked(ErrRedirect), v1alpha1.ErrorConfigurationProblem},
		{"an address of something that answers with everything", &answerlimit.TooLarge{What: "x"}, v1alpha1.ErrorConfigurationProblem},
		{"credentials", apierrors.NewUnauthorized("x"), v1alpha1.ErrorUnauthorized},
		{"a cluster that is down", dialed(syscall.ECONNREFUSED), ""},
		{"memory of this process", answerlimit.Busy{}, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var shown *job.Error
			if !errors.As(Explain(test.err, TalkToCluster, "x"), &shown) {
				t.Fatal("it is not explained")
			}
			got := v1alpha1.ErrorCode("")
			if len(shown.Codes) > 0 {
				got = shown.Codes[0]
			}
			if got != test.want || len(shown.Codes) > 1 {
				t.Errorf("codes %v", shown.Codes)
			}
		})
	}
}

// TestTokensAreNotAnswers: what the resource cluster says of a ServiceAccount is not taken
// for what the target cluster says of an object.
func TestTokensAreNotAnswers(t *testing.T) {
	err := Explain(NoToken{Cause: apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccounts"}, "a")}, TalkToCluster, "x")
	if apierrors.IsNotFound(err) {
		t.Errorf("an object on the target would count as gone: %v", err)
	}
}
