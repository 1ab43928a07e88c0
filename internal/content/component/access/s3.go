package access

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// s3Region is where a bucket is if nothing is said.
const s3Region = "us-east-1"

func (r *Reader) s3(ctx context.Context, _ *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	var spec struct {
		Region     string `json:"region"`
		Bucket     string `json:"bucket"`
		BucketName string `json:"bucketName"`
		Key        string `json:"key"`
		ObjectKey  string `json:"objectKey"`
		Version    string `json:"version"`
		MediaType  string `json:"mediaType"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	bucket, key := firstOf(spec.Bucket, spec.BucketName), firstOf(spec.Key, spec.ObjectKey)
	if bucket == "" || key == "" {
		return nil, errors.New("an access of type s3 needs bucket and key, or bucketName and objectKey")
	}
	region := firstOf(spec.Region, s3Region)
	for _, part := range []struct{ name, value string }{{"bucket", bucket}, {"region", region}} {
		if strings.ContainsAny(part.value, "/?#@:\\ ") || strings.HasPrefix(part.value, ".") {
			return nil, fmt.Errorf("%.80q is no %s of an access of type s3", part.value, part.name)
		}
	}
	sent, err := r.s3Request(ctx, region, bucket, key, spec.Version)
	if err != nil {
		return nil, err
	}
	found := r.Credentials.Find(credential.Request{Type: credential.TypeS3, Scheme: sent.URL.Scheme, Host: sent.URL.Host, Path: bucket + "/" + key})
	if found == nil && r.S3Endpoint == "" {
		found = r.Credentials.Find(credential.Request{Type: credential.TypeS3, Scheme: sent.URL.Scheme, Host: credential.HostS3, Path: bucket + "/" + key})
	}
	if found[credential.AccessKeyID] != "" {
		signS3(sent, region, found, time.Now())
	}
	answer, err := r.send(sent, found[credential.Authority], false)
	if err != nil {
		return nil, fmt.Errorf("object %q of bucket %s: %w", key, bucket, err)
	}
	return answer.blob(firstOf(spec.MediaType, answer.header.Get("Content-Type"), "application/octet-stream")), nil
}

// s3Request asks for an object. The bucket is part of the path, which any name
// allows.
func (r *Reader) s3Request(ctx context.Context, region, bucket, key, version string) (*http.Request, error) {
	address, err := url.Parse(firstOf(r.S3Endpoint, "https://s3."+region+".amazonaws.com"))
	if err != nil || address.Host == "" {
		return nil, fmt.Errorf("%q is not an address of a storage that speaks S3", repository.Redact(r.S3Endpoint))
	}
	address.Path = "/" + bucket + "/" + key
	// The signed path is the sent path.
	address.RawPath = escapeS3(address.Path, true)
	if version != "" {
		address.RawQuery = "versionId=" + escapeS3(version, false)
	}
	sent, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("object %q of bucket %s: %w", key, bucket, err)
	}
	return sent, nil
}

// escapeS3 escapes everything but letters, digits and -._~; a slash stays one in
// a path.
func escapeS3(text string, path bool) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', strings.IndexByte("-._~", b) >= 0, b == '/' && path:
			out.WriteByte(b)
		default:
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}

// signS3 signs a request without body, as version 4 of the signatures of Amazon
// demands: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
func signS3(sent *http.Request, region string, login credential.Properties, now time.Time) {
	stamp := now.UTC().Format("20060102T150405Z")
	empty := sha256.Sum256(nil)
	sent.Header.Set("X-Amz-Date", stamp)
	sent.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(empty[:]))
	if token := login[credential.Token]; token != "" {
		sent.Header.Set("X-Amz-Security-Token", token)
	}
	headers := map[string]string{"host": sent.URL.Host}
	for name, values := range sent.Header {
		headers[strings.ToLower(name)] = strings.TrimSpace(strings.Join(values, ","))
	}
	var names []string
	for name := range headers {
		names = append(names, name)
	}
	slices.Sort(names)
	canonical := sent.Method + "\n" + sent.URL.EscapedPath() + "\n" + sent.URL.RawQuery + "\n"
	for _, name := range names {
		canonical += name + ":" + headers[name] + "\n"
	}
	canonical += "\n" + strings.Join(names, ";") + "\n" + hex.EncodeToString(empty[:])
	scope := stamp[:8] + "/" + region + "/s3/aws4_request"
	sum := sha256.Sum256([]byte(canonical))
	toSign := "AWS4-HMAC-SHA256\n" + stamp + "\n" + scope + "\n" + hex.EncodeToString(sum[:])
	key := []byte("AWS4" + login[credential.SecretAccessKey])
	for _, part := range []string{stamp[:8], region, "s3", "aws4_request"} {
		key = keyed(key, part)
	}
	sent.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+login[credential.AccessKeyID]+"/"+scope+
		",SignedHeaders="+strings.Join(names, ";")+",Signature="+hex.EncodeToString(keyed(key, toSign)))
}

func keyed(key []byte, text string) []byte {
	sum := hmac.New(sha256.New, key)
	// A hash takes everything.
	_, _ = sum.Write([]byte(text))
	return sum.Sum(nil)
}
