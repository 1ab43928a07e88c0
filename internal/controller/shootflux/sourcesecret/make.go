package sourcesecret

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/giturl"
	"go.landscaper.dev/internal/controller/shootflux/sshkey"
)

// Make returns the Secret that has to be stored. It has the metadata of the existing one; a new one
// gets its name and namespace from the caller. Without a scanner no host is asked for its keys.
func (d *Decision) Make(ctx context.Context, source *config.Source, comment string, scan sshkey.Scanner) (*corev1.Secret, error) {
	secret := &corev1.Secret{Type: corev1.SecretTypeOpaque}
	if d.Secret != nil {
		secret = d.Secret.DeepCopy()
	}
	hosts, err := sshkey.KnownHosts(ctx, source.URL, source.KnownHosts, scan)
	if err != nil {
		return nil, fmt.Errorf("find the host keys of the repository: %w", err)
	}
	// Other shoots of the project may need the existing lines.
	hosts = merge(string(secret.Data[sshkey.DataKnownHosts]), hosts)
	if d.NewKey {
		key, err := sshkey.Generate(comment)
		if err != nil {
			return nil, err
		}
		secret.Data = key.Data(hosts, secret.Data)
	} else {
		secret.Data = maps.Clone(secret.Data)
		secret.Data[sshkey.DataKnownHosts] = []byte(hosts)
	}
	labels := maps.Clone(secret.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[Label] = Manager
	secret.Labels = labels
	return secret, nil
}

// merge adds the missing lines.
func merge(before, lines string) string {
	merged := slices.DeleteFunc(strings.Split(before, "\n"), func(line string) bool { return line == "" })
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		if !slices.Contains(merged, line) {
			merged = append(merged, line)
		}
	}
	return strings.Join(merged, "\n") + "\n"
}

// ForShoot returns a Secret as the shoot gets it: configured host keys replace scanned ones.
func ForShoot(secret *corev1.Secret, source *config.Source) *corev1.Secret {
	secret = secret.DeepCopy()
	if secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	if source.KnownHosts != "" {
		secret.Data[sshkey.DataKnownHosts] = []byte(strings.TrimSpace(source.KnownHosts) + "\n")
	}
	return secret
}

// Lacks names what Flux will miss in the Secret of a source, "" if nothing. It names keys, never
// values.
func Lacks(secret *corev1.Secret, source *config.Source) string {
	has := func(key string) bool { return len(secret.Data[key]) > 0 }
	repository, err := giturl.Parse(source.URL)
	switch {
	case err != nil:
		if strings.HasPrefix(source.URL, "oci://") && secret.Type != corev1.SecretTypeDockerConfigJson {
			return "for an oci:// address it must be of the type " + string(corev1.SecretTypeDockerConfigJson)
		}
		return ""
	case !repository.SSH():
		if has("bearerToken") || has("username") && has("password") || has("ca.crt") || has("tls.crt") || has("githubAppID") {
			return ""
		}
		return "for an " + repository.Scheme + ":// address it must have the keys username and password, or bearerToken"
	case !has(sshkey.DataIdentity):
		return "for an ssh:// address it must have the key " + sshkey.DataIdentity + ", a private key"
	case !has(sshkey.DataKnownHosts):
		return "for an ssh:// address it must have the key " + sshkey.DataKnownHosts + ", the host keys of the repository"
	}
	if err := sshkey.CheckKnownHosts(string(secret.Data[sshkey.DataKnownHosts]), repository); err != nil {
		return "its " + sshkey.DataKnownHosts + " " + err.Error()
	}
	return ""
}
