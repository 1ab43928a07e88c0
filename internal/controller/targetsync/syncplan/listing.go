package syncplan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/base/pattern"
	"go.landscaper.dev/internal/cluster/login"
)

// What is listed of a source, of shoots and of Secrets.
var (
	ShootKind      = schema.GroupVersionKind{Group: "core.gardener.cloud", Version: "v1beta1", Kind: "Shoot"}
	ShootResource  = schema.GroupVersionResource{Group: "core.gardener.cloud", Version: "v1beta1", Resource: "shoots"}
	SecretKind     = corev1.SchemeGroupVersion.WithKind("Secret")
	SecretResource = corev1.SchemeGroupVersion.WithResource("secrets")
)

// CredentialKey is the key of the kubeconfig in all Secrets that are made here.
const CredentialKey = "kubeconfig"

// Item is a shoot or a Secret of the source.
type Item struct {
	Name, uid, Version string
	// Selected says that the expression fits the name.
	Selected bool
	// deleting says that the source is removing it.
	deleting bool
	// Shoot has what counts of a shoot, copied what counts of a Secret.
	Shoot  *Shoot
	Copied *copied
}

// Shoot is what counts of a shoot.
type Shoot struct {
	// reachable says that it has an address for its API server.
	reachable bool
	// Creating says that it is not complete for the first time.
	Creating bool
	// Hibernated says that it sleeps.
	Hibernated bool
	// authorities tells how far the rotation of its certificate authorities is. With
	// each step, older credentials may end.
	authorities string
	// authoritiesDone is when such a rotation last ended.
	authoritiesDone time.Time
}

// Copied is what counts of a Secret.
type copied struct {
	Data map[string][]byte
	// hash identifies the data, also if there is a problem with it and it is not kept.
	hash string
	// problem says why it must not become a Target.
	problem error
}

// Names returns a function that tells whether an expression selects a name.
func Names(expression string) (func(string) bool, error) {
	switch expression {
	case "":
		return func(string) bool { return false }, nil
	case "*":
		expression = ".*"
	}
	compiled, err := pattern.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression to filter names: %w", err)
	}
	// Names have at most 253 bytes: each search is affordable.
	return compiled.MatchString, nil
}

// apiServers are the names of the advertised addresses for which a garden grants credentials.
// Addresses of other names belong to issuers of tokens, or to Ingresses and VirtualServices in
// front of a shoot.
var apiServers = []string{"external", "internal", "unmanaged", "wildcard-tls-seed-bound"}

// maxAuthorities is more than what a garden tells of a rotation; it becomes an annotation.
const maxAuthorities = 200

// ReadShoot takes from a shoot what counts.
func ReadShoot(object *unstructured.Unstructured, selects func(string) bool) Item {
	read := newItem(object, selects)
	text := func(path ...string) string {
		found, _, _ := unstructured.NestedString(object.Object, path...) // what is of another type counts as missing
		return found
	}
	flag := func(path ...string) bool {
		found, _, _ := unstructured.NestedBool(object.Object, path...)
		return found
	}
	rotation := []string{"status", "credentials", "rotation", "certificateAuthorities"}
	done := text(append(rotation, "lastCompletionTime")...)
	read.Shoot = &Shoot{
		Hibernated:  flag("status", "hibernated") || flag("spec", "hibernation", "enabled"),
		Creating:    text("status", "lastOperation", "type") == "Create" && text("status", "lastOperation", "state") != "Succeeded",
		authorities: strings.Trim(text(append(rotation, "phase")...)+" "+done, " "),
	}
	// What is stored must be what is compared: a letter that was cut in two would not be.
	read.Shoot.authorities = strings.ToValidUTF8(read.Shoot.authorities[:min(len(read.Shoot.authorities), maxAuthorities)], "")
	read.Shoot.authoritiesDone, _ = time.Parse(time.RFC3339, done)
	addresses, _, _ := unstructured.NestedSlice(object.Object, "status", "advertisedAddresses")
	for _, address := range addresses {
		fields, ok := address.(map[string]any)
		url, _ := fields["url"].(string)
		name, _ := fields["name"].(string)
		read.Shoot.reachable = read.Shoot.reachable || ok && url != "" && slices.Contains(apiServers, name)
	}
	return read
}

// readSecret takes from a Secret what counts. Of what is not selected, nothing is kept
// but the name.
func readSecret(object *unstructured.Unstructured, selects func(string) bool) (Item, error) {
	read := newItem(object, selects)
	if !read.Selected {
		return read, nil
	}
	secret := &corev1.Secret{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, secret); err != nil {
		return Item{}, err
	}
	read.Copied = &copied{hash: hashOf(secret.Data)}
	if content, ok := secret.Data[CredentialKey]; !ok {
		read.Copied.problem = fmt.Errorf("the Secret has no key %s: put the kubeconfig of the cluster there", CredentialKey)
	} else {
		read.Copied.problem = login.CheckKubeconfig(content)
	}
	if read.Copied.problem == nil {
		read.Copied.Data = secret.Data
	}
	return read, nil
}

// maxCopied is how many bytes the Secrets of a source that are to be copied may have
// together: they are held in memory until the run has ended.
const maxCopied = 64 << 20

// ErrTooMuch says that the Secrets of a source are too large together.
var ErrTooMuch = fmt.Errorf("the Secrets that spec.secretNameExpression selects are larger than %d MiB together: select fewer of them", maxCopied>>20)

// Copies reads Secrets of a source, as long as they are not too large together.
type Copies struct {
	Selects func(string) bool
	size    int
}

// Read takes from a Secret what counts, or ErrTooMuch if it is one too many.
func (c *Copies) Read(object *unstructured.Unstructured) (Item, error) {
	read, err := readSecret(object, c.Selects)
	if err != nil || read.Copied == nil {
		return read, err
	}
	for key, value := range read.Copied.Data {
		c.size += len(key) + len(value)
	}
	if c.TooMuch() {
		return Item{}, ErrTooMuch
	}
	return read, nil
}

// TooMuch reports whether they are too large together.
func (c *Copies) TooMuch() bool { return c.size > maxCopied }

func newItem(object *unstructured.Unstructured, selects func(string) bool) Item {
	return Item{
		Name: object.GetName(), uid: string(object.GetUID()), Version: object.GetResourceVersion(),
		Selected: selects(object.GetName()), deleting: object.GetDeletionTimestamp() != nil,
	}
}

// hashOf identifies what a Secret holds.
func hashOf(data map[string][]byte) string {
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(data); err != nil {
		panic(fmt.Sprintf("encode for a hash: %v", err)) // a map of bytes can always be encoded
	}
	return hex.EncodeToString(sum.Sum(nil))
}
