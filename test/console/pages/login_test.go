package pages

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/console"
	"go.landscaper.dev/internal/console/access"
	"go.landscaper.dev/internal/console/login"
	"go.landscaper.dev/test/console/browser"
)

// reviews know one token whose owner may list Installations of one namespace.
type reviews struct{}

// Create implements login.TokenReviews.
func (*reviews) Create(_ context.Context, review *authenticationv1.TokenReview, _ metav1.CreateOptions) (*authenticationv1.TokenReview, error) {
	review.Status.Authenticated = review.Spec.Token == "jane-token"
	review.Status.User.Username = "system:serviceaccount:shop:jane"
	return review, nil
}

type rights struct{}

// Create implements access.Reviews.
func (rights) Create(_ context.Context, review *authorizationv1.SubjectAccessReview, _ metav1.CreateOptions) (*authorizationv1.SubjectAccessReview, error) {
	review.Status.Allowed = review.Spec.ResourceAttributes.Namespace == "shop"
	return review, nil
}

// TestLogin: a user comes in with a token, sees what the token's owner may list, and leaves again.
func TestLogin(t *testing.T) {
	hidden := root("hidden")
	hidden.Namespace = "other"
	address := freeAddress(t)
	entrance, err := login.New(login.Options{
		URL: "http://" + address, Key: make([]byte, login.MinKeySize), SessionTime: time.Hour,
		Tokens: &reviews{}, Rights: access.New(rights{}), Log: logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(root("visible"), hidden)
	handler, err := console.New(t.Context(), console.Options{Source: w, Entrance: entrance, Where: address})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, address, handler)
	page := browser.Open(t)
	page.Visit("http://" + address + "/n/shop/visible")
	page.AwaitText("Token of the cluster")
	page.Photograph("login")
	page.Do(chromedp.SendKeys(`#token`, "guess"+kb.Enter))
	page.Do(chromedp.WaitVisible(`.wrong`))
	page.AwaitText("The cluster does not know this token")
	page.Photograph("login-refused")
	page.Do(chromedp.SendKeys(`#token`, "jane-token"+kb.Enter))
	page.Do(chromedp.WaitVisible(`.user`))
	page.Await(`document.querySelector("h1")?.textContent.includes("visible") && location.pathname === "/n/shop/visible"`)
	page.AwaitText("system:serviceaccount:shop:jane", "Your namespaces")
	page.Follow("header", "Landscaper")
	page.Await(`document.querySelector(".counts b")?.textContent === "1"`)
	page.Photograph("limited")
	if !page.Is(`!document.body.textContent.includes("hidden") && document.cookie === ""`) {
		t.Errorf("the page shows what is hidden, or scripts read the session: %s", page.Text())
	}
	// What others do is not sent, and the page stays live.
	also := root("also")
	w.set(root("visible"), also, hidden, &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "another"}})
	page.Await(`document.querySelector(".counts b")?.textContent === "2"`)
	page.Do(chromedp.Click(`.user button`), chromedp.WaitVisible(`#token`))
	page.AwaitText("Token of the cluster")
	page.Visit("http://" + address + "/")
	page.AwaitText("Token of the cluster")
}

// TestLoggedOut: an open page whose session has ended leads to the login.
func TestLoggedOut(t *testing.T) {
	address := freeAddress(t)
	entrance, err := login.New(login.Options{
		URL: "http://" + address, Key: make([]byte, login.MinKeySize), SessionTime: 3 * time.Second,
		Tokens: &reviews{}, Rights: access.New(rights{}), Log: logr.Discard(),
	})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := console.New(t.Context(), console.Options{Source: newWorld(root("visible")), Entrance: entrance, Where: address})
	if err != nil {
		t.Fatal(err)
	}
	serve(t, address, handler)
	page := browser.Open(t)
	page.Visit("http://" + address + "/n/shop/visible")
	page.Do(chromedp.SendKeys(`#token`, "jane-token"+kb.Enter))
	page.Do(chromedp.WaitVisible(`.user`), chromedp.WaitVisible(`#token`))
	if !page.Is(`location.search === "?to=%2Fn%2Fshop%2Fvisible"`) {
		t.Errorf("the login does not lead back: %s", page.Text())
	}
}
