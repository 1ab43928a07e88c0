package access

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/component/credential"
)

// Amazon's published example of a signature.
const (
	exampleKey    = "AKIAIOSFODNN7EXAMPLE"
	exampleSecret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
)

func exampleLogin() credential.Properties {
	return credential.Properties{credential.AccessKeyID: exampleKey, credential.SecretAccessKey: exampleSecret}
}

func TestS3SignatureOfTheSpecification(t *testing.T) {
	sent, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://examplebucket.s3.amazonaws.com/test.txt", nil)
	if err != nil {
		t.Fatal(err)
	}
	sent.Header.Set("Range", "bytes=0-9")
	signS3(sent, "us-east-1", exampleLogin(), time.Date(2013, 5, 24, 0, 0, 0, 0, time.UTC))
	const want = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request," +
		"SignedHeaders=host;range;x-amz-content-sha256;x-amz-date," +
		"Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
	if got := sent.Header.Get("Authorization"); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// storage answers like a storage that speaks S3: it computes the signature from
// what arrived.
func storage(t *testing.T, seen *[]string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*seen = append(*seen, r.RequestURI)
		given := r.Header.Get("Authorization")
		if strings.HasPrefix(r.URL.Path, "/public/") && given == "" {
			fmt.Fprint(w, "public object")
			return
		}
		at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		region := regexp.MustCompile(`/([a-z0-9-]+)/s3/aws4_request`).FindStringSubmatch(given)
		if err != nil || region == nil || time.Since(at).Abs() > 15*time.Minute {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		// Only what is signed counts.
		again := r.Clone(r.Context())
		again.Header = http.Header{}
		again.URL.Host = r.Host
		signS3(again, region[1], credential.Properties{
			credential.AccessKeyID: exampleKey, credential.SecretAccessKey: exampleSecret, credential.Token: r.Header.Get("X-Amz-Security-Token"),
		}, at)
		if again.Header.Get("Authorization") != given {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "text/object")
		fmt.Fprintf(w, "object in %s", region[1])
	}))
	t.Cleanup(server.Close)
	return server
}

func TestS3(t *testing.T) {
	var seen []string
	server := storage(t, &seen)
	host := strings.TrimPrefix(server.URL, "http://")
	credentials := &credential.Store{}
	wrong := exampleLogin()
	wrong[credential.SecretAccessKey] = "wr0ng"
	temporary := exampleLogin()
	temporary[credential.Token] = "session"
	for path, properties := range map[string]credential.Properties{"private": exampleLogin(), "wrong": wrong, "temporary": temporary} {
		credentials.AddConsumer(map[string]string{"type": "S3", "hostname": host, "pathprefix": path}, properties)
	}
	reader := &Reader{HTTP: newClient(true), Credentials: credentials, S3Endpoint: server.URL}
	for _, test := range []struct{ reason, access, uri, mediaType, want, wantErr string }{
		{"the fields of v1", `{"type":"s3/v1","region":"eu-central-1","bucket":"private","key":"a/b.tgz","mediaType":"text/x"}`, "/private/a/b.tgz", "text/x", "object in eu-central-1", ""},
		{"the fields of v2, no region", `{"type":"S3/v2","bucketName":"private","objectKey":"b"}`, "/private/b", "text/object", "object in us-east-1", ""},
		{"a version", `{"type":"s3","bucket":"private","key":"b","version":"v=1 +"}`, "/private/b?versionId=v%3D1%20%2B", "text/object", "object in us-east-1", ""},
		{"a key with signs that must be escaped", `{"type":"s3","bucket":"private","key":"a b+c=ü/(x)"}`, "/private/a%20b%2Bc%3D%C3%BC/%28x%29", "text/object", "object in us-east-1", ""},
		{"a token for a while", `{"type":"s3","bucket":"temporary","key":"b"}`, "/temporary/b", "text/object", "object in us-east-1", ""},
		{"anonymous", `{"type":"s3","bucket":"public","key":"b","mediaType":"text/y"}`, "/public/b", "text/y", "public object", ""},
		{"no permission", `{"type":"s3","bucket":"other","key":"b"}`, "/other/b", "", "", "403"},
		{"a wrong key", `{"type":"s3","bucket":"wrong","key":"b"}`, "/wrong/b", "", "", "403"},
		{"no key", `{"type":"s3","bucket":"private"}`, "", "", "", "needs bucket and key"},
		{"a region that is a host", `{"type":"s3","region":"x.example.org/","bucket":"private","key":"b"}`, "", "", "", "is no region"},
		{"a bucket that is a path", `{"type":"s3","bucket":"../other","key":"b"}`, "", "", "", "is no bucket"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			seen = nil
			data, mediaType, err := reader.Read(t.Context(), inline(t, nil), resource(test.access), 1<<20)
			if strings.Join(seen, " ") != test.uri {
				t.Errorf("asked for %v", seen)
			}
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) || strings.Contains(err.Error(), exampleSecret) || strings.Contains(err.Error(), "wr0ng") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || string(data) != test.want || mediaType != test.mediaType {
				t.Errorf("got %s %q, %v", mediaType, data, err)
			}
		})
	}
}

// TestS3OfAmazon: identities of type S3 usually name no host; they are for Amazon
// alone.
func TestS3OfAmazon(t *testing.T) {
	credentials := &credential.Store{}
	_, err := credentials.AddOCMConfig([]byte(`{type: credentials.config.ocm.software, consumers: [{identity: {type: S3, pathprefix: private},
	  credentials: [{type: Credentials, properties: {awsAccessKeyID: AKIAIOSFODNN7EXAMPLE, awsSecretAccessKey: s3cr3t}}]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var sent *http.Request
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		sent = r
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	})}
	read := func(endpoint, bucket string) string {
		reader := &Reader{HTTP: client, Credentials: credentials, S3Endpoint: endpoint}
		_, _, err := reader.Read(t.Context(), inline(t, nil), resource(`{"type":"s3","region":"eu-west-1","bucket":"`+bucket+`","key":"k"}`), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return sent.Header.Get("Authorization")
	}
	if login := read("", "private"); sent.URL.String() != "https://s3.eu-west-1.amazonaws.com/private/k" || !strings.Contains(login, "Credential=AKIAIOSFODNN7EXAMPLE/") {
		t.Errorf("%s with %q", sent.URL, login)
	}
	if login := read("", "other"); login != "" {
		t.Errorf("the credentials of another bucket were used: %q", login)
	}
	if login := read("https://storage.example.org", "private"); login != "" {
		t.Errorf("another host got the credentials for Amazon: %q", login)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
