package garden

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/lab"
)

// The limits of what may be asked for.
const (
	leastSeconds   = 600
	mostSeconds    = 1<<32 - 1
	defaultSeconds = 3600
)

// request is an AdminKubeconfigRequest.
type request struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Name      string `json:"name,omitempty"`
		Namespace string `json:"namespace,omitempty"`
	} `json:"metadata"`
	Spec struct {
		ExpirationSeconds *int64 `json:"expirationSeconds,omitempty"`
	} `json:"spec"`
	Status struct {
		Kubeconfig          []byte      `json:"kubeconfig,omitempty"`
		ExpirationTimestamp metav1.Time `json:"expirationTimestamp"`
	} `json:"status"`
}

// refusal is why no credentials are granted.
type refusal struct {
	code    int
	reason  metav1.StatusReason
	message string
}

// grant answers a request for credentials.
func (g *Garden) grant(out http.ResponseWriter, asked *http.Request) {
	body, err := io.ReadAll(asked.Body)
	if err != nil {
		return // the client has disconnected
	}
	made := Grant{
		Shoot: client.ObjectKey{Namespace: asked.PathValue("namespace"), Name: asked.PathValue("name")},
		User:  asked.Header.Get("X-Remote-User"), ContentType: asked.Header.Get("Content-Type"), Body: body, Status: http.StatusCreated,
	}
	g.enter()
	granted, refused := g.granted(asked, made)
	if refused != nil {
		made.Status = refused.code
	}
	g.mutex.Lock()
	g.grants, g.granting = append(g.grants, made), g.granting-1
	g.mutex.Unlock()
	if refused != nil {
		Refuse(out, refused.code, refused.reason, refused.message)
		return
	}
	answer(out, http.StatusCreated, granted)
}

func (g *Garden) enter() {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.granting++
	g.atOnce = max(g.atOnce, g.granting)
}

// AtOnce is how many requests for credentials were answered at the same time at most.
func (g *Garden) AtOnce() int {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return g.atOnce
}

// Grants are the requests for credentials so far.
func (g *Garden) Grants() []Grant {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return append([]Grant(nil), g.grants...)
}

// Limit says how long credentials live at most from now on.
func (g *Garden) Limit(longest time.Duration) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.longest = longest
}

// Follow lets credentials end by another clock. Clusters know only the usual one.
func (g *Garden) Follow(clock func() time.Time) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.now = clock
}

func (g *Garden) granted(asked *http.Request, made Grant) (*request, *refusal) {
	wanted := &request{}
	if err := json.Unmarshal(made.Body, wanted); err != nil || wanted.APIVersion != "authentication.gardener.cloud/v1alpha1" || wanted.Kind != "AdminKubeconfigRequest" {
		return nil, &refusal{http.StatusBadRequest, metav1.StatusReasonBadRequest, "the object provided is no AdminKubeconfigRequest"}
	}
	seconds := int64(defaultSeconds)
	if wanted.Spec.ExpirationSeconds != nil {
		seconds = *wanted.Spec.ExpirationSeconds
	}
	if seconds < leastSeconds || seconds > mostSeconds {
		return nil, &refusal{http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "spec.expirationSeconds: may not specify a duration less than 10 minutes"}
	}
	shoot := newShoot(made.Shoot)
	if err := g.admin.Get(asked.Context(), made.Shoot, shoot); err != nil {
		return nil, &refusal{http.StatusNotFound, metav1.StatusReasonNotFound, "shoots.core.gardener.cloud \"" + made.Shoot.Name + "\" not found"}
	}
	addresses := addressesOf(shoot)
	if len(addresses) == 0 {
		return nil, &refusal{http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "Shoot.core.gardener.cloud \"" + made.Shoot.Name + "\" is invalid: status.status: Invalid value: {}: no kube-apiserver advertised addresses in Shoot .status.advertisedAddresses"}
	}
	g.mutex.Lock()
	behind, longest, now := g.behind[made.Shoot], g.longest, g.now()
	g.mutex.Unlock()
	if behind == nil {
		return nil, &refusal{http.StatusInternalServerError, metav1.StatusReasonInternalError, made.Shoot.Name + ".ca-client not found"}
	}
	expires := now.Add(min(time.Duration(seconds)*time.Second, longest)).Truncate(time.Second)
	kubeconfig, err := credentials(behind, made, addresses, expires)
	if err != nil {
		return nil, &refusal{http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error()}
	}
	wanted.Metadata.Name, wanted.Metadata.Namespace, wanted.Spec.ExpirationSeconds = made.Shoot.Name, made.Shoot.Namespace, &seconds
	wanted.Status.Kubeconfig, wanted.Status.ExpirationTimestamp = kubeconfig, metav1.NewTime(expires)
	return wanted, nil
}

// credentials writes a kubeconfig with a client certificate for the cluster of a shoot.
func credentials(behind *lab.Cluster, made Grant, addresses []address, expires time.Time) ([]byte, error) {
	signer, err := readSigner(behind)
	if err != nil {
		return nil, err
	}
	certificate, key, err := signer.client("gardener.cloud:admin:"+made.User, administrators, expires)
	if err != nil {
		return nil, err
	}
	authority, err := os.ReadFile(behind.CAFile)
	if err != nil {
		return nil, err
	}
	user := made.Shoot.Namespace + "--" + made.Shoot.Name
	var contexts, clusters []any
	for _, address := range addresses {
		name := user + "-" + address.name
		contexts = append(contexts, map[string]any{"name": name, "context": map[string]any{"cluster": name, "user": user}})
		clusters = append(clusters, map[string]any{"name": name, "cluster": map[string]any{"server": address.url, "certificate-authority-data": authority}})
	}
	return json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": user + "-" + addresses[0].name, "contexts": contexts, "clusters": clusters,
		"users": []any{map[string]any{"name": user, "user": map[string]any{"client-certificate-data": certificate, "client-key-data": key}}},
	})
}

// signer signs certificates in the name of a cluster.
type signer struct {
	authority *x509.Certificate
	key       crypto.Signer
}

func readSigner(cluster *lab.Cluster) (*signer, error) {
	pair, err := tls.LoadX509KeyPair(cluster.CAFile, cluster.CAKeyFile)
	if err != nil {
		return nil, fmt.Errorf("read the authority of cluster %s: %w", cluster.Name, err)
	}
	key, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, errors.New("the key of an authority cannot sign")
	}
	return &signer{authority: pair.Leaf, key: key}, nil
}

func (s *signer) server(host string) (tls.Certificate, error) {
	certificate, key, err := s.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotAfter: time.Now().Add(24 * time.Hour),
	})
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certificate, key)
}

func (s *signer) client(name, group string, expires time.Time) (certificate, key []byte, err error) {
	return s.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: name, Organization: []string{group}}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, NotAfter: expires,
	})
}

func (s *signer) sign(template *x509.Certificate) (certificate, private []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, nil, err
	}
	template.NotBefore, template.KeyUsage = time.Now().Add(-time.Minute), x509.KeyUsageDigitalSignature
	signed, err := x509.CreateCertificate(rand.Reader, template, s.authority, key.Public(), s.key)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}), nil
}
