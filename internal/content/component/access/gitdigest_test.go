package access

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
)

// TestDigestOfGit: another tool packs the same files into other bytes. A commit says
// what they are; a reference does not.
func TestDigestOfGit(t *testing.T) {
	s := serveGit(t, func(next http.Handler) http.Handler { return next })
	s.Start()
	first, _ := s.history(t)
	location := `"repository":"` + s.URL + `/shop.git"`
	reader := gitReader(s, credential.Properties{})
	own := resource(`{"type":"git",` + location + `,"ref":"main"}`)
	taken, err := reader.Digest(t.Context(), inline(t, nil), own, "SHA-256", "")
	if err != nil || taken.NormalisationAlgorithm != NormalisationBlob {
		t.Fatalf("%+v, %v", taken, err)
	}
	foreign := &descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: NormalisationBlob, Value: strings.Repeat("0", 64)}
	for _, test := range []struct {
		reason, access string
		digest         *descriptor.Digest
		err            error
	}{
		{"a commit, and the digest of another tool", `"commit":"` + first + `"`, foreign, nil},
		{"a commit that is to be an artifact", `"commit":"` + first + `"`, &descriptor.Digest{HashAlgorithm: "SHA-256", NormalisationAlgorithm: NormalisationArtifact, Value: foreign.Value}, errors.New("the artifact set has neither")},
		{"a branch, and the digest of another tool", `"ref":"main"`, foreign, oci.ErrDigest},
		{"a branch, and our digest", `"ref":"main"`, taken, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			one := resource(`{"type":"git/v1",` + location + `,` + test.access + `}`)
			one.Digest = test.digest
			_, _, err := reader.Read(t.Context(), inline(t, nil), one, 1<<20)
			if (err == nil) != (test.err == nil) || err != nil && !errors.Is(err, test.err) && !strings.Contains(err.Error(), test.err.Error()) {
				t.Errorf("%v, want %v", err, test.err)
			}
		})
	}
}
