// The least that a webhook in Go can do: decode the review, allow it. What is left is the price of having a webhook.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net/http"
)

type review struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Request    *request  `json:"request,omitempty"`
	Response   *response `json:"response,omitempty"`
}

type request struct {
	UID       string          `json:"uid"`
	Object    json.RawMessage `json:"object"`
	OldObject json.RawMessage `json:"oldObject"`
}

type response struct {
	UID     string `json:"uid"`
	Allowed bool   `json:"allowed"`
}

func allow(writer http.ResponseWriter, incoming *http.Request) {
	var in review
	if err := json.NewDecoder(incoming.Body).Decode(&in); err != nil || in.Request == nil {
		http.Error(writer, "not an AdmissionReview", http.StatusBadRequest)
		return
	}
	writer.Header().Set("Content-Type", "application/json")
	out := review{APIVersion: in.APIVersion, Kind: in.Kind, Response: &response{UID: in.Request.UID, Allowed: true}}
	if err := json.NewEncoder(writer).Encode(out); err != nil {
		log.Print(err)
	}
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	certificate := flag.String("cert-file", "", "PEM certificate")
	key := flag.String("key-file", "", "PEM key")
	flag.Parse()
	http.HandleFunc("/", allow)
	log.Fatal(http.ListenAndServeTLS(*listen, *certificate, *key, nil))
}
