package fault

import (
	"bytes"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strings"
)

// admin is the server by which a proxy's rules are switched.
type admin struct {
	config Config
	proxy  *proxy
}

// Cut reports how many connections were closed.
type Cut struct {
	Connections int `json:"connections"`
}

func (a *admin) handler() http.Handler {
	routes := http.NewServeMux()
	routes.HandleFunc("GET /v1/rules", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(a.proxy.engine.get())
	})
	routes.HandleFunc("PUT /v1/rules", a.setRules)
	routes.HandleFunc("POST /v1/cut", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(Cut{Connections: a.proxy.cut()})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+a.config.AdminToken)) != 1 {
			http.Error(w, "the proxy's admin token is needed", http.StatusUnauthorized)
			return
		}
		routes.ServeHTTP(w, r)
	})
}

func (a *admin) setRules(w http.ResponseWriter, r *http.Request) {
	var rules Rules
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&rules)
	if err == nil {
		err = rules.Check()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := a.store(rules); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	a.proxy.engine.set(rules)
	_ = json.NewEncoder(w).Encode(rules)
}

func (a *admin) store(rules Rules) error {
	encoded, err := json.Marshal(rules)
	if err != nil {
		return err
	}
	return os.WriteFile(a.config.RulesFile, encoded, 0o600)
}

// restore loads the rules from before a restart.
func (a *admin) restore() error {
	encoded, err := os.ReadFile(a.config.RulesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var rules Rules
	if err == nil {
		err = json.Unmarshal(encoded, &rules)
	}
	if err != nil {
		return fmt.Errorf("restore the rules: %w", err)
	}
	a.proxy.engine.set(rules)
	return nil
}

// Client switches the rules of a proxy.
type Client struct {
	url, token string
	http       *http.Client
}

// NewClient returns a client for the proxy's admin server.
func NewClient(url, token, caFile string) (*Client, error) {
	pool, err := loadAuthority(caFile)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	return &Client{url: url, token: token, http: &http.Client{Transport: transport}}, nil
}

// Rules returns the present rules.
func (c *Client) Rules(ctx context.Context) (Rules, error) {
	var rules Rules
	return rules, c.call(ctx, http.MethodGet, "/v1/rules", nil, &rules)
}

// SetRules replaces the rules.
func (c *Client) SetRules(ctx context.Context, rules Rules) error {
	return c.call(ctx, http.MethodPut, "/v1/rules", rules, nil)
}

// Cut closes all connections that are open.
func (c *Client) Cut(ctx context.Context) (Cut, error) {
	var cut Cut
	return cut, c.call(ctx, http.MethodPost, "/v1/cut", nil, &cut)
}

func (c *Client) call(ctx context.Context, method, path string, body, result any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode the request to the proxy: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("talk to the fault proxy: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read the fault proxy's answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(strings.TrimSpace(string(answer)))
	}
	if result == nil {
		return nil
	}
	return json.Unmarshal(answer, result)
}
